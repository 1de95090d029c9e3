import { describe, expect, it } from 'vitest'
import {
  addLatency,
  bucketOf,
  type LatencyBuckets,
  latencyPercentile,
} from '../../../src/domain/delivery/latency-buckets.ts'

const bucketsOf = (durations: readonly number[]): LatencyBuckets =>
  durations.reduce((buckets: LatencyBuckets, ms) => addLatency(buckets, ms), {})

/** The nearest-rank percentile, from the durations themselves. */
function exactPercentile(durations: readonly number[], share: number): number {
  return durations.toSorted((one, other) => one - other)[Math.ceil(share * durations.length) - 1] ?? Number.NaN
}

/** Durations with a long tail, always the same. */
const skewed = Array.from({ length: 997 }, (_, n) => Math.floor(3 + ((n * 7_919) % 997) ** 2 / 97))

describe('a percentile of durations', () => {
  it('of one request is its duration, to the millisecond below 50 ms and within 2 % above, up to a minute', () => {
    for (let ms = 0; ms <= 60_000; ms++) {
      const shown = latencyPercentile([bucketsOf([ms])], 0.5) ?? Number.NaN
      expect(Math.abs(shown - ms), `${ms} ms as ${shown}`).toBeLessThanOrEqual(ms < 50 ? 0 : ms * 0.02)
    }
  })

  it.each([0.01, 0.5, 0.9, 0.95, 0.99, 1])(
    'at the share %d of many requests is within 2 %% of the exact one',
    (share) => {
      const exact = exactPercentile(skewed, share)
      const shown = latencyPercentile([bucketsOf(skewed)], share) ?? Number.NaN
      expect(Math.abs(shown - exact)).toBeLessThanOrEqual(exact * 0.02)
    },
  )

  it.each([0.5, 0.95])('at the share %d is that of all parts together', (share) => {
    const parts = [skewed.slice(0, 10), skewed.slice(10, 500), [], skewed.slice(500)].map(bucketsOf)
    expect(latencyPercentile(parts, share)).toBe(latencyPercentile([bucketsOf(skewed)], share))
  })

  it('is the lower of two requests at one half, and the higher at 95 %', () => {
    expect([0.5, 0.95].map((share) => latencyPercentile([bucketsOf([10, 40])], share))).toEqual([10, 40])
  })

  it('is null without requests', () => {
    expect([latencyPercentile([], 0.5), latencyPercentile([{}, {}], 0.5)]).toEqual([null, null])
  })
})

describe('buckets of durations', () => {
  it('never come in another order than the durations', () => {
    for (let ms = 1; ms <= 20_000; ms++) expect(bucketOf(ms)).toBeGreaterThanOrEqual(bucketOf(ms - 1))
  })

  it('are few, however many requests there are', () => {
    expect(Object.keys(bucketsOf(Array.from({ length: 12_001 }, (_, ms) => ms))).length).toBeLessThan(400)
  })
})
