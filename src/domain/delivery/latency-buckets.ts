/** Each bucket above the exact ones is this much wider than the one before: percentiles are within 2 %. */
const RATIO = 1.02
/** Durations below (ms) have a bucket each. */
const EXACT_MS = 50

/** Requests by the bucket of their duration; keys are numbers of buckets. */
export type LatencyBuckets = Readonly<Record<string, number>>

/** The bucket of a duration (ms). */
export function bucketOf(ms: number): number {
  if (ms < EXACT_MS) return ms
  return EXACT_MS + Math.floor(Math.log(ms / EXACT_MS) / Math.log(RATIO))
}

/** The duration (ms) that a bucket stands for: its lower bound. */
function durationOf(bucket: number): number {
  return bucket < EXACT_MS ? bucket : Math.ceil(EXACT_MS * RATIO ** (bucket - EXACT_MS))
}

/** Buckets with one more duration. */
export function addLatency(buckets: LatencyBuckets, ms: number): LatencyBuckets {
  const bucket = bucketOf(ms)
  return { ...buckets, [bucket]: (buckets[bucket] ?? 0) + 1 }
}

/** The duration (ms) below or at which a share of all requests lie; null when there are none. */
export function latencyPercentile(parts: readonly LatencyBuckets[], share: number): number | null {
  const sums = new Map<number, number>()
  for (const part of parts)
    for (const [bucket, count] of Object.entries(part))
      sums.set(Number(bucket), (sums.get(Number(bucket)) ?? 0) + count)
  const total = [...sums.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const [bucket, count] of [...sums].toSorted(([one], [other]) => one - other)) {
    seen += count
    if (seen >= share * total) return durationOf(bucket)
  }
  return null
}
