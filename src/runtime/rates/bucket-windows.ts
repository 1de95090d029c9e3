import type { Rate, RateLimitResult } from '../../ports/rate-limiter.ts'

/** Parts of a window that are counted apart. */
const BUCKETS = 60

/** Counts of requests by part of a window: the part's number and its count, oldest first. */
export type Buckets = readonly (readonly [bucket: number, count: number])[]

/** Counts of one client by the length of the window (ms). */
export type BucketWindows = Readonly<Record<string, Buckets>>

/** Result of a request under several rates; `rate` is the one that refuses it, else the narrowest. */
export interface RatesResult extends RateLimitResult {
  readonly rate: Rate
}

const countOf = (buckets: Buckets) => buckets.reduce((sum, [, count]) => sum + count, 0)

/** The part of a window in which an instant (ms) lies. */
const bucketOf = ({ windowMs }: Rate, ms: number) => Math.floor((ms * BUCKETS) / windowMs)

/** Milliseconds until one more request is within the rate; 0 when one is. */
function waitMs(buckets: Buckets, rate: Rate, now: number): number {
  let left = countOf(buckets)
  for (const [bucket, count] of buckets) {
    if (left < rate.limit) break
    left -= count
    if (left < rate.limit) return Math.max(1, ((bucket + BUCKETS + 1) * rate.windowMs) / BUCKETS - now)
  }
  return 0
}

/**
 * Evaluates one more request under several rates; it counts in each, or in none. Memory does not depend on the limits: a window is
 * counted in sixty parts, and a request counts until its part has left, at most a sixtieth longer than the window.
 */
export function evaluateRates(
  windows: BucketWindows,
  rates: readonly Rate[],
  now: number,
): { readonly result: RatesResult; readonly windows: BucketWindows } {
  const states = rates.map((rate) => {
    const oldest = bucketOf(rate, now) - BUCKETS
    const buckets = (windows[rate.windowMs] ?? []).filter(([bucket]) => bucket >= oldest)
    const remaining = Math.max(0, rate.limit - countOf(buckets))
    return { rate, buckets, remaining }
  })
  const narrowest = states.toSorted((a, b) => a.remaining - b.remaining)[0]
  if (!narrowest) throw new Error('A client has at least one rate.')
  const allowed = narrowest.remaining > 0
  const after = states.map(({ rate, buckets }) => {
    const present = bucketOf(rate, now)
    const [last, ...rest] = buckets.toReversed()
    const isCounted = last !== undefined && last[0] >= present
    const counted: Buckets = isCounted ? [...rest.toReversed(), [last[0], last[1] + 1]] : [...buckets, [present, 1]]
    return [String(rate.windowMs), allowed ? counted : buckets] as const
  })
  const { rate, remaining } = narrowest
  const nextMs = allowed ? 0 : Math.max(...states.map((state) => waitMs(state.buckets, state.rate, now)))
  return {
    result: { allowed, remaining: allowed ? remaining - 1 : 0, nextMs, rate },
    windows: Object.fromEntries(after),
  }
}
