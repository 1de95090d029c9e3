import { describe, expect, it } from 'vitest'
import { localLength, QUARTER_MS, type TimeDimension, timeBuckets } from '../../../src/domain/reporting/time-buckets.ts'

/** Key and label of an instant's bucket, in a window of a year around it. */
function bucketAt(dimension: TimeDimension, zone: string, instant: string) {
  const ms = Date.parse(instant)
  const buckets = timeBuckets(dimension, zone, ms - 180 * 86_400_000, ms + 180 * 86_400_000)
  const bucket = buckets.bucketOf(Math.floor(ms / QUARTER_MS))
  return [buckets.keyOf(bucket), buckets.labelOf(bucket)]
}

describe('time buckets', () => {
  it.each<readonly [TimeDimension, string, string, string, string]>([
    ['hour', 'America/New_York', '2026-11-01T05:59:00Z', '2026-11-01T01:00:00-04:00', '2026-11-01 01:00'],
    ['hour', 'America/New_York', '2026-11-01T06:00:00Z', '2026-11-01T01:00:00-05:00', '2026-11-01 01:00'],
    ['hour', 'America/New_York', '2026-03-08T07:00:00Z', '2026-03-08T03:00:00-04:00', '2026-03-08 03:00'],
    ['hour', 'Australia/Lord_Howe', '2026-04-04T14:45:00Z', '2026-04-05T01:00:00+11:00', '2026-04-05 01:00'],
    ['hour', 'Australia/Lord_Howe', '2026-04-04T15:15:00Z', '2026-04-05T01:00:00+10:30', '2026-04-05 01:00'],
    ['hour', 'Asia/Kathmandu', '2026-01-01T00:14:00Z', '2026-01-01T05:00:00+05:45', '2026-01-01 05:00'],
    ['hour', 'Asia/Kathmandu', '2026-01-01T00:15:00Z', '2026-01-01T06:00:00+05:45', '2026-01-01 06:00'],
    ['day', 'America/New_York', '2026-03-08T04:59:00Z', '2026-03-07', '2026-03-07'],
    ['day', 'America/New_York', '2026-03-09T03:59:00Z', '2026-03-08', '2026-03-08'],
    ['week', 'UTC', '2026-01-01T00:00:00Z', '2025-12-29', '2026-W01'],
    ['week', 'UTC', '2027-01-03T23:59:00Z', '2026-12-28', '2026-W53'],
    ['month', 'Asia/Tokyo', '2026-01-31T15:00:00Z', '2026-02', '2026-02'],
    ['weekday', 'UTC', '2026-11-22T12:00:00Z', 'sun', 'Sunday'],
    ['weekday', 'UTC', '1969-12-29T12:00:00Z', 'mon', 'Monday'],
    ['hourOfDay', 'America/New_York', '2026-07-01T03:30:00Z', '23', '23:00'],
  ])('%s in %s of %s', (dimension, zone, instant, key, label) => {
    expect(bucketAt(dimension, zone, instant)).toEqual([key, label])
  })

  it('come in the order of time, also where the clocks go back', () => {
    const [from, to] = [Date.parse('2026-04-04T00:00:00Z'), Date.parse('2026-04-06T00:00:00Z')]
    const { bucketOf } = timeBuckets('hour', 'Australia/Lord_Howe', from, to)
    const found = Array.from({ length: (to - from) / QUARTER_MS }, (_, n) => bucketOf(from / QUARTER_MS + n))
    expect(found).toEqual(found.toSorted((one, other) => one - other))
  })

  it('have windows that are as long as the clock says', () => {
    const [from, to] = [Date.parse('2026-10-01T04:00:00Z'), Date.parse('2026-11-02T05:00:00Z')]
    expect(localLength('America/New_York', from, to)).toBe(32 * 86_400_000)
    expect(localLength('UTC', from, to)).toBe(32 * 86_400_000 + 3_600_000)
  })
})
