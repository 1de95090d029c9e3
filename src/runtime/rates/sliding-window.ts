import type { Rate, RateLimitResult } from '../../ports/rate-limiter.ts'

/** Instants (ms) of the requests that are counted, oldest first: never more than the largest limit that was asked for. */
export type RateWindow = number[]

/** Forgets what has left the window: a request counts for exactly its length. */
function slide(times: RateWindow, { windowMs }: Rate, now: number): void {
  const first = times.findIndex((at) => at > now - windowMs)
  times.splice(0, first === -1 ? times.length : first)
}

/** Judges one more request at an instant, and counts it if it is to be counted and within the rate. */
export function evaluateRate(times: RateWindow, rate: Rate, now: number, counts: boolean): RateLimitResult {
  slide(times, rate, now)
  const allowed = times.length < rate.limit
  // A clock that was set back must not put instants out of order.
  if (allowed && counts) times.push(Math.max(now, times.at(-1) ?? now))
  const next = times[Math.max(0, times.length - rate.limit)]
  return {
    allowed,
    remaining: Math.max(0, rate.limit - times.length),
    nextMs: next === undefined ? 0 : next + rate.windowMs - now,
  }
}
