import { callLog } from '../../projections/calls/call-log.ts'
import { LIVE_BOARD } from '../../src/domain/shared/limits.ts'
import { HOUR_MS } from '../../src/domain/shared/time.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'

/** The calls on the live board at an instant (Document 2, calls in progress). */
export function liveFilter(workspaceId: string, now: string): Filter {
  return {
    workspaceId,
    startedMs: { $gte: Date.parse(now) - LIVE_BOARD.hours * HOUR_MS },
    liveCount: 1,
    status: { $in: ['routing', 'ringing', 'in_progress'] },
  }
}

/** Number of calls on the live board. */
export function countLive(views: Pick<ReadStore, 'count'>, workspaceId: string, now: string): Promise<number> {
  return views.count(collectionOf(callLog), liveFilter(workspaceId, now))
}
