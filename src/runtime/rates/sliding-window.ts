import type { Rate, RateLimitResult } from '../../ports/rate-limiter.ts'

/** Instants (ms) of the counted requests, oldest first: at most the largest limit used. */
export type RateWindow = number[]

/** Removes the requests that have left the window: a request counts for exactly its length. */
function slide(times: RateWindow, { windowMs }: Rate, now: number): void {
  const first = times.findIndex((at) => at > now - windowMs)
  times.splice(0, first === -1 ? times.length : first)
}

/** Evaluates one more request at an instant; counts it when `counts` and within the rate. Changes `times`. */
export function evaluateRate(times: RateWindow, rate: Rate, now: number, counts: boolean): RateLimitResult {
  slide(times, rate, now)
  const allowed = times.length < rate.limit
  // The instants stay in order when the clock is set back.
  if (allowed && counts) times.push(Math.max(now, times.at(-1) ?? now))
  const next = times[Math.max(0, times.length - rate.limit)]
  return {
    allowed,
    remaining: Math.max(0, rate.limit - times.length),
    nextMs: next === undefined ? 0 : next + rate.windowMs - now,
  }
}
