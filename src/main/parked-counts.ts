import { within } from '../kernel/async/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { listParked } from '../runtime/reactions/parked-streams.ts'
import { reactions } from './platform-effects.ts'

/** How long the store may take to answer (ms). */
const ANSWER_MS = 1_000

type ParkedStreams = Awaited<ReturnType<typeof listParked>>

const byReaction = (parked: ParkedStreams): ReadonlyMap<string, number> =>
  new Map(reactions.map(({ name }) => [name, parked.filter(({ reaction }) => reaction === name).length]))

/** Numbers of parked streams, by reaction. @throws StoreUnavailable */
export async function readParkedCounts(
  ops: Pick<OperationalStore, 'list'>,
  clock: Pick<Clock, 'now'>,
): Promise<ReadonlyMap<string, number>> {
  return byReaction(await listParked(ops, clock.now()))
}

/** Numbers of parked streams, by reaction; none where the store does not answer, which is told elsewhere. */
export async function countParkedStreams(
  ops: Pick<OperationalStore, 'list'>,
  clock: Clock,
): Promise<ReadonlyMap<string, number>> {
  const counts = await within(clock, ANSWER_MS, readParkedCounts(ops, clock)).catch(() => null)
  return counts ?? byReaction([])
}
