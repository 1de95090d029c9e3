import { collect } from './calls.ts'
import { filteredRead } from './requests.ts'
import { positionsOf } from './responses.ts'
import type { ServerFilter } from './server-filter.ts'
import type { StreamsService } from './streams-service.ts'

/**
 * Resolves to the position of the newest event, when the filter has none between a position and there; to null when it has.
 * @param maxAgeMs how long ago the newest event may have been looked up
 */
export type PassOver = (position: number, filter: ServerFilter, maxAgeMs: number) => Promise<number | null>

/**
 * Creates the check how far a reader has come: a subscription that has caught up reports its position only with what it
 * sends, and every few hundred events of the log. @param head position of the newest event. Both reads must be of one node.
 */
export function createPassOver(service: StreamsService, head: () => Promise<number>, deadline: number): PassOver {
  let last = { at: Number.NEGATIVE_INFINITY, head: Promise.resolve(0) }

  function headOf(maxAgeMs: number): Promise<number> {
    const now = performance.now()
    if (now - last.at > maxAgeMs) last = { at: now, head: head() }
    return last.head
  }

  return async (position, filter, maxAgeMs) => {
    const newest = await headOf(maxAgeMs)
    if (newest <= position) return position
    // The first may be the event at the position itself.
    const request = filteredRead(position < 0 ? 'start' : position, filter, 2)
    const { messages, isPartial } = await collect(service, request, deadline, { requiresLeader: true })
    // A read that ran out of time does not say that nothing comes.
    const comes = isPartial || positionsOf(messages).some((at) => at > position)
    return comes ? null : newest
  }
}
