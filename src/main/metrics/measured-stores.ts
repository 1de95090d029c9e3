import type { EventLog } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { delegate } from '../../runtime/projections/delegate-store.ts'

/** How an append ended. `failed`: the log did not answer, and whether it has the events is unknown. */
export type AppendOutcome = 'appended' | 'conflict' | 'failed'

/** How a commit ended. `overtaken`: another process owns the checkpoint by now. */
export type CommitOutcome = 'committed' | 'overtaken' | 'failed'

/** Is told how a write ended, the seconds that it took, and how many events or documents were written. */
type OnEnd<Outcome> = (outcome: Outcome, seconds: number, written: number) => void

/** Current time (ms). */
type Now = () => number

/** Makes a write, and reports its end. `outcomeOf`: the outcome of its result, and what was written. */
async function measured<Result, Outcome extends string>(
  write: () => Promise<Result>,
  outcomeOf: (result: Result) => readonly [outcome: NoInfer<Outcome>, written: number],
  onEnd: OnEnd<Outcome | 'failed'>,
  now: Now,
): Promise<Result> {
  const begun = now()
  let end: readonly [Outcome | 'failed', number] = ['failed', 0]
  try {
    const result = await write()
    end = outcomeOf(result)
    return result
  } finally {
    const [outcome, written] = end
    onEnd(outcome, (now() - begun) / 1_000, written)
  }
}

const wallClock: Now = () => performance.now()

/** Decorates a log: reports each append with its seconds and the number of events that were appended. */
export function withMeasuredAppends(log: EventLog, onEnd: OnEnd<AppendOutcome>, now = wallClock): EventLog {
  return {
    ...log,
    append: (stream, expected, events) =>
      measured(
        () => log.append(stream, expected, events),
        ({ ok }) => (ok ? ['appended', events.length] : ['conflict', 0]),
        onEnd,
        now,
      ),
  }
}

/** Decorates a read store: reports each commit with its seconds and the number of documents that were written. */
export function withMeasuredCommits(store: ReadStore, onEnd: OnEnd<CommitOutcome>, now = wallClock): ReadStore {
  return {
    ...delegate(store),
    commit: (writes, checkpoint) =>
      measured(
        () => store.commit(writes, checkpoint),
        (isMoved) => (isMoved ? ['committed', writes.length] : ['overtaken', 0]),
        onEnd,
        now,
      ),
  }
}
