import { collectionOf } from '../../../src/kernel/projection.ts'
import { reactions } from '../../../src/main/platform-effects.ts'
import { timers } from '../../../src/main/registry.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { readActivePositions } from '../../../src/runtime/projections/build-alias.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { simulatedProjections } from './process.ts'

/** The work that a simulated system has left to do. */
export interface Backlog {
  /** Projections and reactions whose position is behind the head of the log. */
  readonly behind: readonly string[]
  /** Whether any call has work left to do. */
  readonly open: boolean
  /** The instant (ms) of the next scheduled job; null when there is none. */
  readonly nextDue: number | null
}

/** Reads the backlog from the stores while all processes are idle. */
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
