import { Temporal } from 'temporal-polyfill'
import { memoize } from './memoize.ts'
import { DAYS, type DayTable, mapDays, type Schedule } from './schedule.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts'
import { zoneOrUtc } from './zones.ts'

/** Zones change their offset only at quarters of an hour, so one offset holds for a whole quarter. */
const QUARTER_MS = 15 * MINUTE_MS

/** Cached offsets of one zone. Nearly all instants are recent, so a few quarters suffice. */
const QUARTERS_MAX = 512

interface WallClock {
  readonly format: Intl.DateTimeFormat
  readonly offsets: Map<number, number>
}

/** Zones whose clock is cached: a zone may be spelt in any case, so there are more spellings than zones. */
const WALL_CLOCKS_MAX = 1_000

function readOffset(format: Intl.DateTimeFormat, instantMs: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(instantMs)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1_000) * 1_000
}

const wallClockOf = memoize((zone): WallClock => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zoneOrUtc(zone),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return { format, offsets: new Map() }
}, WALL_CLOCKS_MAX)

/** Offset of a zone from UTC at an instant, in milliseconds. Formatting is slow, so offsets are cached by quarter of an hour. */
export function offsetAt(zone: string, instantMs: number): number {
  const { format, offsets } = wallClockOf(zone)
  const quarter = Math.floor(instantMs / QUARTER_MS)
  const cached = offsets.get(quarter)
  if (cached !== undefined) return cached
  if (offsets.size >= QUARTERS_MAX) offsets.clear()
  const offset = readOffset(format, instantMs)
  offsets.set(quarter, offset)
  return offset
}

/** The local time of an instant (ms) in a zone: `YYYY-MM-DD HH:MM:SS`. */
export function localTime(zone: string, instantMs: number): string {
  return new Date(instantMs + offsetAt(zone, instantMs)).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * The local name (`YYYY-MM-DD HH`) of an hour of UTC (`YYYY-MM-DDTHH`); null where the offset is not whole hours, or changes
 * within the hour.
 */
export function localHour(zone: string, hour: string): string | null {
  const hourMs = Date.parse(`${hour}:00:00.000Z`)
  const offset = offsetAt(zone, hourMs)
  const same = offsetAt(zone, hourMs + HOUR_MS - 1) === offset && offset % HOUR_MS === 0
  return same ? localTime(zone, hourMs).slice(0, hour.length) : null
}

const minuteOfDay = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** Opening and closing minutes of each day. */
type Minutes = DayTable<readonly (readonly [open: number, close: number])[]>

/** Parsed schedules: one decision evaluates hundreds of them. A changed schedule is a new object. */
const minutesCache = new WeakMap<Schedule, Minutes>()

function openingMinutes(schedule: Schedule): Minutes {
  const known = minutesCache.get(schedule)
  if (known) return known
  const minutes = mapDays((day) =>
    schedule.days[day].map(([open, close]) => [minuteOfDay(open), minuteOfDay(close)] as const),
  )
  minutesCache.set(schedule, minutes)
  return minutes
}

/**
 * Whether a schedule is open at an instant (ms), by the local wall clock: 09:00 is 09:00 before and after a change of the
 * clocks. The opening minute is inside, the closing minute outside. A null schedule is always open.
 */
export function isOpen(schedule: Schedule | null, instantMs: number, fallbackTz: string): boolean {
  if (schedule === null) return true
  const wallMs = instantMs + offsetAt(schedule.tz || fallbackTz, instantMs)
  const days = Math.floor(wallMs / DAY_MS)
  const minute = Math.floor((wallMs - days * DAY_MS) / MINUTE_MS)
  // 1970-01-01 was a Thursday, the fourth day from Monday.
  const day = DAYS[(((days + 3) % 7) + 7) % 7] ?? 'mon'
  return openingMinutes(schedule)[day].some(([open, close]) => minute >= open && minute < close)
}

/** A local date: its first instant, that of the next date, and the midnight computed for it (ms). */
interface LocalDay {
  readonly from: number
  readonly to: number
  readonly midnight: number
}

/** The last local day by zone and distance: nearly all calls are about today. */
const dayCache = new Map<string, LocalDay>()
const DAY_CACHE_MAX = 2_000

function localDayOf(zone: string, instantMs: number, daysBack: number): LocalDay {
  const known = zoneOrUtc(zone)
  const date = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(known).toPlainDate()
  const startOf = (back: number) => date.subtract({ days: back }).toZonedDateTime(known).epochMilliseconds
  return { from: startOf(0), to: startOf(-1), midnight: startOf(daysBack) }
}

/** The first instant (ms) of the local date `daysBack` days before that of an instant. */
export function localMidnight(zone: string, instantMs: number, daysBack: number): number {
  const key = `${zone} ${daysBack}`
  const cached = dayCache.get(key)
  if (cached && cached.from <= instantMs && instantMs < cached.to) return cached.midnight
  const day = localDayOf(zone, instantMs, daysBack)
  if (dayCache.size >= DAY_CACHE_MAX) dayCache.clear()
  dayCache.set(key, day)
  return day.midnight
}
