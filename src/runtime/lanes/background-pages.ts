import type { Clock } from '../../ports/clock.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import { ARRIVING_MS, createPause } from './pause-work.ts'
import type { PauseWork } from './running-lane.ts'

/**
 * Events in a page of background lanes while live events arrive, and in how many parts it is read. Many events make one commit of
 * each document; short parts hold nobody up.
 */
export const BACKGROUND_PAGE = { events: 1_024, parts: 16 } as const
/** Maximum events of a page at the end of the log that is taken without pauses: with them, lanes would never reach a log that grows. */
const LAST_PAGE_EVENTS = 128
/** Least events that background lanes read for each live event that arrives meanwhile; with 1 they would never catch up. */
const GAIN = 2
/** How long after a background page (ms) the lanes count as busy with others. */
const BUSY_MS = 2_000

/** Plans the pages of background lanes, one at a time, and their pauses: live lanes are not held up, and yet these lanes catch up. */
export function createBackgroundPages(clock: Clock, signal: AbortSignal) {
  let arrivedAt = Number.NEGATIVE_INFINITY
  let readAt = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  /** Events that are still to be read for those that have arrived. */
  let owed = 0
  /** Position up to which live events are counted. */
  let countedTo = START
  const isArriving = () => clock.now() - arrivedAt < ARRIVING_MS
  /** How much of their pauses lanes take: all while a page is owed at most, less and less up to two pages. */
  const pauseShare = () => (isArriving() ? Math.min(1, Math.max(0, 2 - owed / BACKGROUND_PAGE.events)) : 0)

  return {
    /** Counts the live events of a page, each once, however many pages have it. */
    count({ events, position }: LogPage): void {
      const arrived = events.filter((event) => event.position > countedTo).length
      owed += GAIN * arrived
      countedTo = Math.max(countedTo, position)
      if (arrived > 0) arrivedAt = clock.now()
    },
    /** Whether a page is under way: the next one waits for it, so that all lanes that are behind take it together. */
    isUnderWay: () => isUnderWay,
    /** Begins a page, of lanes that may pause or not: its maximum events, and the pause between pieces of its work; null for none. */
    begin(mayPause: boolean): { readonly maxEvents: number; readonly pause: PauseWork | null } {
      isUnderWay = true
      if (clock.now() - readAt >= BUSY_MS) owed = 0
      if (!isArriving()) return { maxEvents: Number.POSITIVE_INFINITY, pause: null }
      return {
        maxEvents: Math.max(BACKGROUND_PAGE.events, owed),
        pause: mayPause && pauseShare() > 0 ? createPause(clock, signal, pauseShare) : null,
      }
    },
    /** Whether a page brings its lanes to the end of the log so soon that they need not pause. */
    isLast: ({ end, events }: LogPage) => end && events.length <= LAST_PAGE_EVENTS,
    /** Ends the page. `events`: the number that it had. */
    end(events: number): void {
      isUnderWay = false
      readAt = clock.now()
      owed = Math.max(0, owed - events)
    },
  }
}
