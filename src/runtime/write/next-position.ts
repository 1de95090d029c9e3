import type { EventLog } from '../../ports/event-log.ts'

/**
 * Decorates a log whose positions have no gaps, and to which this process alone appends: tells which position the next append
 * begins at if all that is under way succeeds. `head` is the position of the log's newest event.
 */
export function withNextPosition(
  log: EventLog,
  head: number,
): { readonly log: EventLog; readonly nextPosition: () => number } {
  let newest = head
  let underWay = 0
  return {
    log: {
      ...log,
      async append(stream, expected, events) {
        underWay += events.length
        try {
          const result = await log.append(stream, expected, events)
          if (result.ok) newest = Math.max(newest, result.position)
          return result
        } finally {
          underWay -= events.length
        }
      },
    },
    nextPosition: () => newest + underWay + 1,
  }
}
