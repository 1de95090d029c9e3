import type { Rate, RateStanding } from '../../ports/rate-limiter.ts'

/** Instants (ms) of the requests that are counted, oldest first: never more than the largest limit that was asked for. */
export type Window = number[]

/** Forgets what has left the window: a request counts for exactly its length. */
function slide(times: Window, { windowMs }: Rate, now: number): void {
  const first = times.findIndex((at) => at > now - windowMs)
  times.splice(0, first === -1 ? times.length : first)
}

/** Judges one more request at an instant, and counts it if it is to be counted and within the rate. */
export function judgeRate(times: Window, rate: Rate, now: number, counts: boolean): RateStanding {
  slide(times, rate, now)
  const allowed = times.length < rate.limit
  // A clock that was set back must not put instants out of order.
  if (allowed && counts) times.push(Math.max(now, times.at(-1) ?? now))
  const next = times[Math.max(0, times.length - rate.limit)]
  return {
    allowed,
    left: Math.max(0, rate.limit - times.length),
    nextMs: next === undefined ? 0 : next + rate.windowMs - now,
  }
}
