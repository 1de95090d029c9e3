import { LIVE_STREAM } from '../domain/shared/limits.ts'
import { type Refusal, refuse } from '../kernel/refusal.ts'

/** Counts the open live streams of each workspace. */
export interface LiveStreamLimiter {
  /** Takes a place until the signal aborts; refuses with `rate-limited` (429) where the workspace has none left. */
  readonly take: (workspaceId: string, closed: AbortSignal) => Refusal<'rate-limited'> | null
}

/** The limiter of one process: LIVE_STREAM.max streams a workspace. */
export function createLiveStreamLimiter(): LiveStreamLimiter {
  const open = new Map<string, number>()
  const add = (workspaceId: string, by: 1 | -1) => {
    const count = (open.get(workspaceId) ?? 0) + by
    if (count === 0) open.delete(workspaceId)
    else open.set(workspaceId, count)
  }
  return {
    take(workspaceId, closed) {
      if ((open.get(workspaceId) ?? 0) >= LIVE_STREAM.max) {
        const details = { streams: LIVE_STREAM.max, retryAfterSeconds: LIVE_STREAM.heartbeatMs / 1_000 }
        return refuse('rate-limited', details, `The workspace has ${LIVE_STREAM.max} live streams open.`)
      }
      if (closed.aborted) return null
      add(workspaceId, 1)
      closed.addEventListener('abort', () => add(workspaceId, -1), { once: true })
      return null
    },
  }
}
