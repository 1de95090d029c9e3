import { z } from 'zod'
import { REPORT } from '../../src/domain/shared/limits.ts'
import { poolEvents } from '../../src/domain/supply/pool.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { PoolCreated, PoolChanged } = poolEvents

const doc = z.object({
  workspaceId: id,
  /** Names from an instant on (ms since the epoch), the oldest first. */
  names: z.array(z.tuple([z.int(), z.string()])),
})
type PoolNames = Readonly<z.infer<typeof doc>>

/** The names that pools had, by pool: calls know a pool by its id alone, and a report shows the name of its time. */
export const poolNames = defineProjection({
  name: 'pool-names',
  version: 1,
  events: { PoolCreated, PoolChanged },
  doc,
  indexes: [],
  key: (event) => (event.type === 'PoolCreated' ? event.data.pool.id : event.data.poolId),
  create: {
    PoolCreated: (event): PoolNames => ({
      workspaceId: workspaceIdOf(event),
      names: [[Date.parse(event.meta.at), event.data.pool.name]],
    }),
  },
  update: {
    PoolChanged(doc, { data: { after }, meta }): PoolNames {
      if (after.name === undefined) return doc
      const names = [...doc.names, [Date.parse(meta.at), after.name] satisfies [number, string]]
      return { ...doc, names: names.slice(-REPORT.poolNames) }
    },
  },
})

/** The name that a pool had at an instant (ms since the epoch); the oldest known one for an earlier instant. */
export function poolNameAt({ names }: PoolNames, atMs: number): string | null {
  return (names.findLast(([since]) => since <= atMs) ?? names[0])?.[1] ?? null
}
