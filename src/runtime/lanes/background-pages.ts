import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * Events in a page of background lanes while live events arrive, and in how many parts it is read. Many events make one commit of
 * each document; short parts hold nobody up.
 */
export const BACKGROUND_PAGE = { events: 512, parts: 8 } as const
/** While live events arrive, a background lane that may pause does so for as long as its last piece of work took, times this. */
const PAUSE_FACTOR = 12
/** Least speed of a background lane as a multiple of the arrival rate; at 1 it would never catch up. It pauses where it reaches this. */
const GAIN = 2
/** How long after a live event the lanes count as under load, and for how long the arrival rate is measured (ms). */
const ARRIVING_MS = 2_000
const RATE_MS = 1_000
/** What was measured is forgotten when no background page has been read for so long (ms). */
const FORGET_MS = 60_000

/** Plans the pages of background lanes, and their pauses, so that live lanes are not held up and yet these lanes catch up. */
export function createBackgroundPages(clock: Clock, signal: AbortSignal) {
  let pageAt = Number.NEGATIVE_INFINITY
  let arrivedAt = Number.NEGATIVE_INFINITY
  /** Live events since the last page, and since an instant. */
  let arrived = 0
  let counted = { events: 0, since: Number.NEGATIVE_INFINITY }
  /** Events a millisecond: those that arrive, and those of a page with pauses. */
  let speed = { arriving: 0, paced: Number.POSITIVE_INFINITY }
  const isArriving = () => clock.now() - arrivedAt < ARRIVING_MS

  function measureArrivals(now: number): void {
    if (now - pageAt >= FORGET_MS) {
      arrived = 0
      counted = { events: 0, since: now }
      speed = { arriving: 0, paced: Number.POSITIVE_INFINITY }
    } else if (now - counted.since >= RATE_MS) {
      speed = { ...speed, arriving: counted.events / (now - counted.since) }
      counted = { events: 0, since: now }
    }
  }

  return {
    isArriving,
    /** Counts live events. */
    count(events: number): void {
      arrived += events
      counted.events += events
      if (events > 0) arrivedAt = clock.now()
    },
    /** The maximum events of the next page, and whether its lanes pause. */
    next(): { readonly maxEvents: number; readonly isPaced: boolean } {
      measureArrivals(clock.now())
      const isPaced = isArriving() && GAIN * speed.arriving <= speed.paced
      const least = isPaced ? BACKGROUND_PAGE.events : Math.max(BACKGROUND_PAGE.events, GAIN * arrived)
      arrived = 0
      pageAt = clock.now()
      return { maxEvents: isArriving() ? least : Number.POSITIVE_INFINITY, isPaced }
    },
    /** Measures a page with pauses. */
    measurePaced(events: number, tookMs: number): void {
      speed = { ...speed, paced: events / Math.max(1, tookMs) }
    },
    /** Pauses since an instant: each for a multiple of the time that has passed since the last one. */
    pausesSince(begun: number) {
      let since = begun
      const pauseMs = () => PAUSE_FACTOR * (clock.now() - since)
      return {
        pauseMs,
        async pause(): Promise<void> {
          if (isArriving()) await sleep(clock, pauseMs(), signal)
          since = clock.now()
        },
      }
    },
  }
}
