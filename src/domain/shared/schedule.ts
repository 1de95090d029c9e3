import { z } from 'zod'
import { SCHEDULE, TEXT } from './limits.ts'
import { excerpt } from './problems.ts'
import { zoneProblem } from './zones.ts'

/** Days as a schedule names them, from Monday. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof DAYS)[number]

const window = z.tuple([z.string().max(5), z.string().max(5)]).readonly()
const windows = z.array(window).readonly()

/** A schedule as it is kept: every day named, each a list of opening and closing times (Document 1, convention 8). */
export const schedule = z.object({
  tz: z.string().max(TEXT.zone),
  days: z.object({ mon: windows, tue: windows, wed: windows, thu: windows, fri: windows, sat: windows, sun: windows }),
})
export type Schedule = Readonly<z.infer<typeof schedule>>

const opening = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be an opening time, HH:MM' })
const closing = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error: 'must be a closing time, HH:MM or 24:00' })
const windowInput = z
  .tuple([opening, closing])
  .readonly()
  .refine(([open, close]) => open < close, { error: 'must open before it closes' })

/** A schedule as it is sent: a day left out is closed, a zone left out is the record's own. */
export const scheduleInput = z.object({
  tz: z.string().max(TEXT.zone).nullish(),
  days: z.record(z.string(), z.array(windowInput).max(SCHEDULE.windowsPerDay).readonly()),
})
export type ScheduleInput = Readonly<z.infer<typeof scheduleInput>>

/**
 * What is wrong with a schedule that was sent, as a sentence; null when nothing is. Zone, days and that it ever opens are
 * rules, since records differ in the refusal (Supplement 1.15); how windows are spelt is not.
 */
export function scheduleProblem({ tz, days }: ScheduleInput): string | null {
  const zone = tz ? zoneProblem(tz) : null
  if (zone) return zone
  const stranger = Object.keys(days).find((day) => !DAYS.some((known) => known === day))
  if (stranger !== undefined) return `${excerpt(stranger)} is not a day of the week.`
  const opens = Object.values(days).some((list) => list.length > 0)
  return opens ? null : 'The schedule closes all seven days; send null for always open.'
}

/** A sent schedule as it is kept. */
export function normalizeSchedule({ tz, days }: ScheduleInput, fallbackTz: string): Schedule {
  const of = (day: Day) => days[day] ?? []
  return {
    tz: tz || fallbackTz,
    days: {
      mon: of('mon'),
      tue: of('tue'),
      wed: of('wed'),
      thu: of('thu'),
      fri: of('fri'),
      sat: of('sat'),
      sun: of('sun'),
    },
  }
}

/**
 * The schedule that a record keeps after a request: one that is sent replaces it, null clears it. A zone sent beside it
 * is folded into it; else its own zone holds, and without one the record's.
 */
export function patchSchedule(
  kept: Schedule | null,
  sent: ScheduleInput | null | undefined,
  zones: { readonly sent: string | undefined; readonly record: string },
): Schedule | null {
  const next = sent === undefined ? kept : sent && normalizeSchedule(sent, zones.record)
  return next && zones.sent !== undefined ? { ...next, tz: zones.sent } : next
}
