import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { listParked } from '../runtime/reactions/parked-streams.ts'
import { reactions } from './platform-effects.ts'

/** How long the store may take to answer (ms). */
const ANSWER_MS = 1_000

/** Numbers of parked streams, by reaction; none where the store does not answer, which is told elsewhere. */
export async function countParkedStreams(
  ops: Pick<OperationalStore, 'list'>,
  clock: Clock,
): Promise<ReadonlyMap<string, number>> {
  const { promise: late, resolve } = Promise.withResolvers<readonly []>()
  const cancel = clock.schedule(clock.now() + ANSWER_MS, () => resolve([]))
  const parked = await Promise.race([listParked(ops, clock.now()).catch(() => []), late])
  cancel()
  return new Map(reactions.map(({ name }) => [name, parked.filter(({ reaction }) => reaction === name).length]))
}
