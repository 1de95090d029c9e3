import type { Rate, RateLimitResult } from '../../ports/rate-limiter.ts'

/** Parts of a window that are counted apart. */
const BUCKETS = 60

/** Counts of requests by part of a window: when the part's last request came (ms), and its count; oldest first. */
export type Buckets = readonly (readonly [lastMs: number, count: number])[]

/** Counts of one client by `windowKey`. */
export type BucketWindows = Readonly<Record<string, Buckets>>

/** Result of a request under several rates; `rate` is the one that refuses it, else the narrowest. */
export interface RatesResult extends RateLimitResult {
  readonly rate: Rate
}

/** Names the window of a rate. The unit sets it apart from the windows of earlier versions, which counted by the number of a part. */
const windowKey = ({ windowMs }: Rate) => `${windowMs}ms`

const countOf = (buckets: Buckets) => buckets.reduce((sum, [, count]) => sum + count, 0)

/** The parts whose last request came after an instant (ms). */
const liveBuckets = (buckets: Buckets | undefined, after: number): Buckets =>
  buckets?.filter(([lastMs]) => lastMs > after) ?? []

/** The part of a window in which an instant (ms) lies. */
const bucketOf = ({ windowMs }: Rate, ms: number) => Math.floor((ms * BUCKETS) / windowMs)

/** Milliseconds until one more request is within the rate, at most the window; 0 when one is. */
function waitMs(buckets: Buckets, { limit, windowMs }: Rate, now: number): number {
  let left = countOf(buckets)
  for (const [lastMs, count] of buckets) {
    if (left < limit) break
    left -= count
    // The clock may have been set back since.
    if (left < limit) return windowMs - Math.max(0, now - lastMs)
  }
  return 0
}

/** The parts of a window with one more request. */
function counted(buckets: Buckets, rate: Rate, now: number): Buckets {
  const last = buckets.at(-1)
  if (!last) return [[now, 1]]
  const [lastMs, count] = last
  return bucketOf(rate, lastMs) >= bucketOf(rate, now)
    ? [...buckets.slice(0, -1), [Math.max(lastMs, now), count + 1]]
    : [...buckets, [now, 1]]
}

/**
 * Evaluates one more request under several rates; it counts in each, or in none. Memory does not depend on the limits: a window is
 * counted in sixty parts. A part leaves with its last request, so an earlier request counts at most a sixtieth longer than the window.
 */
export function evaluateRates(
  windows: BucketWindows,
  rates: readonly Rate[],
  now: number,
): { readonly result: RatesResult; readonly windows: BucketWindows } {
  const states = rates.map((rate) => {
    const buckets = liveBuckets(windows[windowKey(rate)], now - rate.windowMs)
    return { rate, buckets, remaining: Math.max(0, rate.limit - countOf(buckets)) }
  })
  const [first, ...others] = states
  if (!first) throw new Error('A client has at least one rate.')
  const narrowest = others.reduce((least, state) => (state.remaining < least.remaining ? state : least), first)
  const allowed = narrowest.remaining > 0
  const after: Record<string, Buckets> = {}
  for (const { rate, buckets } of states) after[windowKey(rate)] = allowed ? counted(buckets, rate, now) : buckets
  const { rate, remaining } = narrowest
  const nextMs = allowed ? 0 : Math.max(...states.map((state) => waitMs(state.buckets, state.rate, now)))
  return { result: { allowed, remaining: allowed ? remaining - 1 : 0, nextMs, rate }, windows: after }
}
