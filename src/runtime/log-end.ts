import { type EventLog, START } from '../ports/event-log.ts'

/** Where the log ends, when that is before a position; null when it is not. @throws LogUnavailable */
export type LogEndBefore = (position: number) => Promise<number | null>

/**
 * Creates the check whether the log still has all that was read of it. A reader's position may be past the newest event, at what a
 * server writes into its log by itself, so the log is read on from there; what was read on is not read again while the newest
 * event stays, so that a check costs one read of its position.
 */
export function createLogEndBefore(log: Pick<EventLog, 'head' | 'readAll'>): LogEndBefore {
  let [newest, end] = [START, START]
  return async (position) => {
    const head = await log.head()
    end = head < newest ? head : Math.max(head, end)
    newest = head
    while (end < position) {
      const page = await log.readAll(end)
      end = Math.max(end, page.position)
      if (page.end) break
    }
    return end < position ? end : null
  }
}

/** The furthest of some positions; START for none. */
export function furthestOf(reached: Iterable<{ readonly position: number }>): number {
  let furthest = START
  for (const { position } of reached) furthest = Math.max(furthest, position)
  return furthest
}
