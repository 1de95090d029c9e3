import { collectionOf } from '../../../src/kernel/projection.ts'
import { reactions } from '../../../src/main/effects.ts'
import { timers } from '../../../src/main/registry.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { readActivePositions } from '../../../src/runtime/projections/build-names.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { simulatedProjections } from './process.ts'

/** How far a system is from having nothing left to do. */
export interface Backlog {
  /** Projections and reactions that have not passed all that was written. */
  readonly behind: readonly string[]
  /** Whether a call has still something to come. */
  readonly open: boolean
  /** When the next piece of work falls due (ms); null for none. */
  readonly nextDue: number | null
}

/** Looks at the stores of a system whose processes all wait. */
export async function backlogOf(
  stores: { readonly log: EventLog; readonly ops: OperationalStore; readonly views: ReadStore },
  oracle: Pick<Oracle, 'open'>,
  now: number,
): Promise<Backlog> {
  const { log, ops, views } = stores
  const head = await log.head()
  const projected = await readActivePositions(views)
  const reacted = reactions.map(async ({ name }) => {
    const entry = await ops.get(`reaction-position:${name}`, now)
    return [name, Number(entry?.value ?? -1)] as const
  })
  const positions = [
    ...simulatedProjections.map(({ name }) => [name, projected.get(name) ?? -1] as const),
    ...(await Promise.all(reacted)),
  ]
  const behind = positions.flatMap(([name, position]) => (position < head ? [`${name} at ${position} of ${head}`] : []))
  const [row] = await views.find(collectionOf(timers), { filter: {}, sort: { dueAt: 1 }, limit: 1 })
  const nextDue = row ? Number(row.doc.dueAt) : null
  const open = behind.length === 0 && oracle.open(now).length > 0
  return { behind, open, nextDue }
}
