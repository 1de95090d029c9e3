import { z } from 'zod'
import { excerpt } from '../../kernel/excerpt.ts'
import { SCHEDULE, TEXT } from './limits.ts'

import { canonicalZone, zoneOrUtc, zoneProblem } from './zones.ts'

/** The days of a schedule, from Monday. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof DAYS)[number]

/** A value for each day. */
export type DayTable<Value> = Readonly<Record<Day, Value>>

/** A table with the value that `of` computes for each day. */
export function mapDays<Value>(of: (day: Day) => Value) {
  return {
    mon: of('mon'),
    tue: of('tue'),
    wed: of('wed'),
    thu: of('thu'),
    fri: of('fri'),
    sat: of('sat'),
    sun: of('sun'),
  } satisfies DayTable<Value>
}

const window = z
  .tuple([z.string().max(5), z.string().max(5)])
  .readonly()
  .meta({ id: 'OpeningHours' })
const windows = z.array(window).readonly()

/** A stored schedule: every day is present, as a list of `[open, close]` times (Document 1, shared convention 8). */
export const schedule = z
  .object({
    tz: z.string().max(TEXT.zone),
    days: z.object({
      mon: windows,
      tue: windows,
      wed: windows,
      thu: windows,
      fri: windows,
      sat: windows,
      sun: windows,
    }),
  })
  .meta({ id: 'Schedule' })
export type Schedule = Readonly<z.infer<typeof schedule>>

const opening = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be an opening time from 00:00 to 23:59, as HH:MM' })
const closing = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error: 'must be a closing time from 00:00 to 24:00, as HH:MM' })
const windowInput = z
  .tuple([opening, closing])
  .readonly()
  .refine(([open, close]) => open < close, { error: 'must have an opening time before its closing time' })

/** A schedule in a request: a missing day is closed, a missing zone is the record's. */
export const scheduleInput = z
  .object({
    tz: z.string().max(TEXT.zone).overwrite(canonicalZone).nullish(),
    days: z.record(z.string(), z.array(windowInput).max(SCHEDULE.windowsPerDay).readonly()),
  })
  .meta({ id: 'ScheduleSettings' })
export type ScheduleInput = Readonly<z.infer<typeof scheduleInput>>

/**
 * What is wrong with a schedule in a request, as a sentence; null when it is valid. Zone, days and at least one window are
 * checked here, because records differ in the refusal (Supplement 1.15). The schema checks the format of windows.
 */
export function scheduleProblem({ tz, days }: ScheduleInput): string | null {
  const zone = tz == null ? null : zoneProblem(tz)
  if (zone) return zone
  const unknown = Object.keys(days).find((name) => !DAYS.some((day) => day === name))
  if (unknown !== undefined) return `"${excerpt(unknown)}" is not a day. Days are: ${DAYS.join(', ')}.`
  const opens = Object.values(days).some((list) => list.length > 0)
  return opens ? null : 'The schedule closes all seven days; send null for always open.'
}

/** The stored form of a schedule in a request. */
export function normalizeSchedule({ tz, days }: ScheduleInput, fallbackTz: string): Schedule {
  return { tz: tz ?? fallbackTz, days: mapDays((day) => days[day] ?? []) }
}

/**
 * A record's schedule after a request: a schedule replaces it, null clears it, undefined keeps it. The request's own
 * `timezone` field wins over the schedule's zone; a schedule without one takes the record's.
 */
export function patchSchedule(
  current: Schedule | null,
  input: ScheduleInput | null | undefined,
  zones: { readonly input: string | undefined; readonly record: string },
): Schedule | null {
  const next = input === undefined ? current : input && normalizeSchedule(input, zoneOrUtc(zones.record))
  return next && zones.input !== undefined ? { ...next, tz: zones.input } : next
}
