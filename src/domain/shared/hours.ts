import { Temporal } from 'temporal-polyfill'
import { DAYS, type Day, type Schedule } from './schedule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Zones change their offset on quarters of an hour, so one offset holds for a quarter. */
const QUARTER_MS = 15 * MINUTE_MS

/** Offsets remembered of one zone; calls are dated now or in the past, so a few quarters serve nearly all. */
const QUARTERS_MAX = 512

interface WallClock {
  readonly format: Intl.DateTimeFormat
  readonly offsets: Map<number, number>
}

const wallClocks = new Map<string, WallClock>()

function readOffset(format: Intl.DateTimeFormat, instantMs: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(instantMs)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1_000) * 1_000
}

function wallClockOf(zone: string): WallClock {
  const known = wallClocks.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const wall = { format, offsets: new Map<number, number>() }
  wallClocks.set(zone, wall)
  return wall
}

/** Local wall clock less UTC at an instant, in milliseconds. Formatting is slow, so offsets are remembered by quarter. */
export function offsetAt(zone: string, instantMs: number): number {
  const { format, offsets } = wallClockOf(zone)
  const quarter = Math.floor(instantMs / QUARTER_MS)
  const known = offsets.get(quarter)
  if (known !== undefined) return known
  if (offsets.size >= QUARTERS_MAX) offsets.clear()
  const offset = readOffset(format, instantMs)
  offsets.set(quarter, offset)
  return offset
}

/** An instant (ms) on the wall clock of a zone: `YYYY-MM-DD HH:MM:SS`. */
export function localTime(zone: string, instantMs: number): string {
  return new Date(instantMs + offsetAt(zone, instantMs)).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * What an hour of UTC (`YYYY-MM-DDTHH`) is called in a zone where its minutes are those of UTC throughout
 * (`YYYY-MM-DD HH`); else null.
 */
export function localHour(zone: string, hour: string): string | null {
  const hourMs = Date.parse(`${hour}:00:00.000Z`)
  const offset = offsetAt(zone, hourMs)
  const same = offsetAt(zone, hourMs + HOUR_MS - 1) === offset && offset % HOUR_MS === 0
  return same ? localTime(zone, hourMs).slice(0, hour.length) : null
}

const minuteOfDay = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** Opening and closing minutes of each day. */
type Minutes = Readonly<Record<Day, readonly (readonly [open: number, close: number])[]>>

/** Schedules by minutes: a decision asks hundreds of them, and a schedule that changes is another one. */
const minutesCache = new WeakMap<Schedule, Minutes>()

function openingMinutes(schedule: Schedule): Minutes {
  const known = minutesCache.get(schedule)
  if (known) return known
  const of = (day: Day) => schedule.days[day].map(([open, close]) => [minuteOfDay(open), minuteOfDay(close)] as const)
  const minutes = {
    mon: of('mon'),
    tue: of('tue'),
    wed: of('wed'),
    thu: of('thu'),
    fri: of('fri'),
    sat: of('sat'),
    sun: of('sun'),
  }
  minutesCache.set(schedule, minutes)
  return minutes
}

/**
 * Whether a schedule is open at an instant (ms): by the local wall clock, so that nine o'clock is nine o'clock on
 * both sides of a change of the clocks. Opening times are inside, closing times outside. Null is always open.
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

/** A local date: its first instant, that of the next one, and that of the one asked for (ms). */
interface LocalDay {
  readonly from: number
  readonly to: number
  readonly midnight: number
}

/** The day last asked about, by zone and distance: nearly all ask about today. */
const days = new Map<string, LocalDay>()

function localDayOf(zone: string, instantMs: number, daysBack: number): LocalDay {
  const date = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(zone).toPlainDate()
  const begin = (back: number) => date.subtract({ days: back }).toZonedDateTime(zone).epochMilliseconds
  return { from: begin(0), to: begin(-1), midnight: begin(daysBack) }
}

/** The first instant (ms) of the local date `daysBack` days before that of an instant. */
export function localMidnight(zone: string, instantMs: number, daysBack: number): number {
  const key = `${zone} ${daysBack}`
  const known = days.get(key)
  if (known && known.from <= instantMs && instantMs < known.to) return known.midnight
  const day = localDayOf(zone, instantMs, daysBack)
  days.set(key, day)
  return day.midnight
}
