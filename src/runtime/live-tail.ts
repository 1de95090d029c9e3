import { Observable, share } from 'rxjs'
import { waitBeforeRetry } from '../kernel/async/backoff.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { LogFilter } from '../ports/log-filter.ts'

/** What was appended to the log: events in log order, and the position that they reach. */
export interface TailPage {
  readonly events: readonly RecordedEvent[]
  readonly position: number
  /** Whether the reading starts here: what was appended before is in no page. */
  readonly isStart: boolean
}

/**
 * The tail of the log as a hot observable of the events that a filter has: one reading of the log for all subscribers,
 * from the first subscription to the last unsubscription. It starts with an empty page at the head of the log, since a subscriber may have read
 * something older just before. While the log is unavailable it retries, and goes on where it stopped. The log's async
 * generator paces the reading; subscribers get each page synchronously. Completes when the signal aborts, never errors.
 */
export function createLiveTail(options: {
  readonly log: Pick<EventLog, 'follow' | 'head'>
  readonly filter: LogFilter
  readonly clock: Clock
  readonly signal: AbortSignal
}): Observable<TailPage> {
  const { log, filter, clock, signal } = options

  async function* pages(stop: AbortSignal): AsyncGenerator<TailPage> {
    let after: number | null = null
    for (let failures = 0; !stop.aborted; ) {
      try {
        if (after === null) {
          after = await log.head()
          yield { events: [], position: after, isStart: true }
        }
        for await (const page of log.follow(after, stop, filter)) {
          after = page.position
          failures = 0
          yield { events: page.events, position: page.position, isStart: false }
        }
      } catch {
        failures += 1
        await waitBeforeRetry(clock, failures, stop)
      }
    }
  }

  const tail = new Observable<TailPage>((subscriber) => {
    const stop = new AbortController()
    const read = async () => {
      for await (const page of pages(AbortSignal.any([stop.signal, signal]))) subscriber.next(page)
      subscriber.complete()
    }
    void read()
    return () => stop.abort()
  })
  return tail.pipe(share())
}
