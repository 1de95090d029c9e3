import { z } from 'zod'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { verticalShape, verticalShapeOf } from './vertical-shape.ts'

/** One of the workspace's own verticals. */
export const getVertical = defineQuery({
  name: 'get-vertical',
  summary: 'Read a vertical',
  mounts: [{ surface: 'console', path: '/api/tracking/verticals/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ vertical: verticalShape }),
  reads: [verticals],
  rejects: ['vertical-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, tenant }) {
    const doc = await readOne(views, verticals, tenant.workspaceId, params.id)
    return doc ? { vertical: verticalShapeOf(doc) } : refuse('vertical-not-found')
  },
})
