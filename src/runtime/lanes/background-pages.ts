import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * Events in a page of background lanes while live events arrive, and in how many parts it is read. Many events make one commit of
 * each document; short parts hold nobody up.
 */
export const BACKGROUND_PAGE = { events: 512, parts: 8 } as const
/**
 * While live events arrive, a background lane that may pause does so for as long as its last piece of work took, times this, and
 * never longer (ms): a piece that a server's collection of garbage held up is no reason to pause for seconds.
 */
const PAUSE = { factor: 12, maxMs: 500 } as const
/** Least events that background lanes read for each live event that arrives meanwhile; with 1 they would never catch up. */
const GAIN = 2
/** How long after a live event the lanes count as under load, and after a background page as busy with others (ms). */
const RECENT_MS = 2_000

/** Plans the pages of background lanes, and their pauses, so that live lanes are not held up and yet these lanes catch up. */
export function createBackgroundPages(clock: Clock, signal: AbortSignal) {
  let arrivedAt = Number.NEGATIVE_INFINITY
  let readAt = Number.NEGATIVE_INFINITY
  let underWay = 0
  /** Events that are still to be read for those that have arrived: when more than a page, without pauses. */
  let owed = 0
  const isRecent = (at: number) => clock.now() - at < RECENT_MS
  const isArriving = () => isRecent(arrivedAt)

  return {
    /** Counts live events. */
    count(events: number): void {
      owed += GAIN * events
      if (events > 0) arrivedAt = clock.now()
    },
    /** Begins a page: its maximum events, and whether its lanes pause. */
    begin(): { readonly maxEvents: number; readonly isPaced: boolean } {
      if (underWay === 0 && !isRecent(readAt)) owed = 0
      underWay += 1
      if (!isArriving()) return { maxEvents: Number.POSITIVE_INFINITY, isPaced: false }
      const { events } = BACKGROUND_PAGE
      return { maxEvents: Math.max(events, owed), isPaced: owed <= events }
    },
    /** Ends a page. `events`: the number that it had. */
    end(events: number): void {
      underWay -= 1
      readAt = clock.now()
      owed = Math.max(0, owed - events)
    },
    /**
     * Pauses since an instant: each for a multiple of the time that has passed since the last one, up to a limit. None while nothing
     * arrives, nor once another page is owed beside the one under way.
     */
    pausesSince(begun: number) {
      let since = begun
      const mayPause = () => isArriving() && owed <= 2 * BACKGROUND_PAGE.events
      const pauseMs = () => (mayPause() ? Math.min(PAUSE.maxMs, PAUSE.factor * (clock.now() - since)) : 0)
      return {
        pauseMs,
        async pause(): Promise<void> {
          const ms = pauseMs()
          if (ms > 0) await sleep(clock, ms, signal)
          since = clock.now()
        },
      }
    },
  }
}
