import type { EventLog } from '../../ports/event-log.ts'

/** How an append ended. `failed`: the log did not answer, and whether it has the events is unknown. */
export type AppendOutcome = 'appended' | 'conflict' | 'failed'

/** Decorates a log: reports each append with its seconds and the number of events that were appended. `now` in ms. */
export function withMeasuredAppends(
  log: EventLog,
  onEnd: (outcome: AppendOutcome, seconds: number, events: number) => void,
  now: () => number = () => performance.now(),
): EventLog {
  return {
    ...log,
    async append(stream, expected, events) {
      const begun = now()
      let outcome: AppendOutcome = 'failed'
      try {
        const result = await log.append(stream, expected, events)
        outcome = result.ok ? 'appended' : 'conflict'
        return result
      } finally {
        onEnd(outcome, (now() - begun) / 1_000, outcome === 'appended' ? events.length : 0)
      }
    },
  }
}
