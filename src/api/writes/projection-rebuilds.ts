import { z } from 'zod'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { refuse } from '../../kernel/refusal.ts'
import { rebuildShape } from '../projection-status.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const rebuild = defineWriteRoute({
  name: 'rebuild-projection',
  summary: 'Rebuild a projection beside the active one',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/projections/:name/rebuild' }],
  params: z.object({ name: z.string() }),
  responses: { 202: z.object({ rebuild: rebuildShape.extend({ name: z.string() }) }) },
  rejects: ['projection-not-found', 'conflict'],
  async run({ params: { name }, tools: { projectionRows, rebuild } }) {
    const rowOf = async () => (await projectionRows()).find((row) => row.name === name)
    if (!(await rowOf())) return refuseNotFound('projection')
    const isStarted = await rebuild(name)
    // A small projection may be rebuilt by now.
    const progress = (await rowOf())?.rebuild ?? { position: 0, head: 0, share: 1 }
    return isStarted
      ? { status: 202, body: { rebuild: { name, ...progress } } }
      : refuse('conflict', progress, 'That projection is being rebuilt already.')
  },
})

/** The rebuild of a projection (Supplement §2, "Operator"). */
export const projectionRebuilds: readonly Write[] = [rebuild]
