import { Temporal } from 'temporal-polyfill'
import { DAYS } from '../shared/schedule.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../shared/time.ts'
import { zoneOrUtc } from '../shared/zones.ts'

/** Zones change their clocks only between two quarters of an hour, so calls are grouped by quarters first. */
export const QUARTER_MS = 15 * MINUTE_MS

/** The dimensions of time: a series (`hour` to `month`), and cycles. */
export const timeDimension = ['hour', 'day', 'week', 'month', 'weekday', 'hourOfDay'] as const
export type TimeDimension = (typeof timeDimension)[number]

/** Offset from UTC (ms) that a zone has from an instant on (ms). */
interface Offset {
  readonly from: number
  readonly offset: number
}

/** The offsets of a zone within a window, the first one with the window. */
export function offsetsOf(zone: string, fromMs: number, toMs: number): readonly Offset[] {
  const offsets: Offset[] = []
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(
    zoneOrUtc(zone),
  )
  while (at && (offsets.length === 0 || at.epochMilliseconds < toMs)) {
    offsets.push({ from: at.epochMilliseconds, offset: at.offsetNanoseconds / 1_000_000 })
    at = at.getTimeZoneTransition('next')
  }
  return offsets
}

const offsetAmong = (offsets: readonly Offset[], ms: number): number =>
  (offsets.findLast(({ from }) => from <= ms) ?? offsets[0])?.offset ?? 0

// 1970-01-01 was a Thursday, the fourth day from Monday.
const daysSinceMonday = (localMs: number) => Math.floor(localMs / DAY_MS) + 3

interface TimeRule {
  /** Number of the bucket of an instant, by its local time; later buckets have larger ones. */
  readonly bucketOf: (localMs: number, offset: number) => number
  /** Key and label of a bucket. */
  readonly key: (bucket: number, offsets: readonly Offset[]) => string
  readonly label: (key: string, bucket: number) => string
}

const dateText = (localMs: number): string => new Date(localMs).toISOString().slice(0, 10)

/** An offset as ISO 8601 has it: `-05:00`. */
function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / MINUTE_MS
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

/** ISO 8601 week of the Monday of a week: `2026-W48`. */
function weekText(mondayMs: number): string {
  const thursday = new Date(mondayMs + 3 * DAY_MS)
  const year = thursday.getUTCFullYear()
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}

const mondayOf = (week: number): number => (week * 7 - 3) * DAY_MS
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const itself = (key: string) => key

/** Hours are told apart by their offset: an hour that the clocks repeat is two hours. */
const TIME_RULES: Readonly<Record<TimeDimension, TimeRule>> = {
  hour: {
    bucketOf: (localMs, offset) => Math.floor(localMs / HOUR_MS) * HOUR_MS - offset,
    key(bucket, offsets) {
      // The hour begins before the clocks change, where they change within it.
      const offset = offsetAmong(offsets, bucket)
      const later = offsetAmong(offsets, bucket + HOUR_MS - 1)
      const own = (bucket + offset) % HOUR_MS === 0 ? offset : later
      return `${new Date(bucket + own).toISOString().slice(0, 19)}${offsetText(own)}`
    },
    label: (key) => key.slice(0, 16).replace('T', ' '),
  },
  day: {
    bucketOf: (localMs) => Math.floor(localMs / DAY_MS),
    key: (bucket) => dateText(bucket * DAY_MS),
    label: itself,
  },
  week: {
    bucketOf: (localMs) => Math.floor(daysSinceMonday(localMs) / 7),
    key: (bucket) => dateText(mondayOf(bucket)),
    label: (_key, bucket) => weekText(mondayOf(bucket)),
  },
  month: {
    bucketOf(localMs) {
      const date = new Date(localMs)
      return date.getUTCFullYear() * 12 + date.getUTCMonth()
    },
    key: (bucket) => dateText(Date.UTC(Math.floor(bucket / 12), bucket % 12)).slice(0, 7),
    label: itself,
  },
  weekday: {
    bucketOf: (localMs) => ((daysSinceMonday(localMs) % 7) + 7) % 7,
    key: (bucket) => DAYS[bucket] ?? 'mon',
    label: (_key, bucket) => WEEKDAYS[bucket] ?? 'Monday',
  },
  hourOfDay: {
    bucketOf: (localMs) => Math.floor((((localMs % DAY_MS) + DAY_MS) % DAY_MS) / HOUR_MS),
    key: (bucket) => String(bucket).padStart(2, '0'),
    label: (key) => `${key}:00`,
  },
}

/** The buckets of a dimension of time in a window of a zone. */
export interface TimeBuckets {
  /** Number of the bucket of a quarter of an hour (since the epoch); later buckets have larger ones. */
  readonly bucketOf: (quarter: number) => number
  readonly keyOf: (bucket: number) => string
  readonly labelOf: (bucket: number) => string
}

/** The buckets of a dimension for instants of a window (ms), by the clock of a zone. */
export function timeBuckets(dimension: TimeDimension, zone: string, fromMs: number, toMs: number): TimeBuckets {
  const { bucketOf, key, label } = TIME_RULES[dimension]
  // The first quarter may begin before the window.
  const offsets = offsetsOf(zone, fromMs - QUARTER_MS, toMs)
  return {
    bucketOf(quarter) {
      const ms = quarter * QUARTER_MS
      const offset = offsetAmong(offsets, ms)
      return bucketOf(ms + offset, offset)
    },
    keyOf: (bucket) => key(bucket, offsets),
    labelOf: (bucket) => label(key(bucket, offsets), bucket),
  }
}

/** Length of a window by the clock of a zone (ms): a month in which the clocks change is as long as another. */
export function localLength(zone: string, fromMs: number, toMs: number): number {
  const offsets = offsetsOf(zone, fromMs, toMs)
  return toMs - fromMs + offsetAmong(offsets, toMs) - offsetAmong(offsets, fromMs)
}
