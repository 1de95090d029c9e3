import { z } from 'zod'
import { TEXT, WINDOWS_PER_DAY } from './limits.ts'
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

/** A schedule as it is sent: a day left out is closed, a zone left out is the record's own. */
export const scheduleInput = z.object({
  tz: z.string().max(TEXT.zone).nullish(),
  days: z.record(z.string().max(16), windows),
})
export type ScheduleInput = Readonly<z.infer<typeof scheduleInput>>

const OPENING = /^([01]\d|2[0-3]):[0-5]\d$/
const CLOSING = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/

function windowProblem(day: string, [open, close]: readonly [string, string]): string | null {
  if (!OPENING.test(open)) return `${open} on ${day} is not an opening time (HH:MM).`
  if (!CLOSING.test(close)) return `${close} on ${day} is not a closing time (HH:MM, or 24:00).`
  return open < close ? null : `${open} to ${close} on ${day} closes before it opens.`
}

function dayProblem(day: string, list: readonly (readonly [string, string])[]): string | null {
  if (!DAYS.some((known) => known === day)) return `${day} is not a day of the week.`
  if (list.length > WINDOWS_PER_DAY) return `${day} has more than ${WINDOWS_PER_DAY} windows.`
  return list.map((window) => windowProblem(day, window)).find((problem) => problem !== null) ?? null
}

/** What is wrong with a schedule that was sent, as a sentence; null when nothing is. */
export function scheduleProblem({ tz, days }: ScheduleInput): string | null {
  const zone = tz ? zoneProblem(tz) : null
  if (zone) return zone
  const day = Object.entries(days)
    .map(([name, list]) => dayProblem(name, list))
    .find((problem) => problem !== null)
  if (day) return day
  const opens = Object.values(days).some((list) => list.length > 0)
  return opens ? null : 'The schedule closes all seven days; send null for always open.'
}

/** A sent schedule as it is kept. */
export function normalSchedule({ tz, days }: ScheduleInput, fallbackTz: string): Schedule {
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
export function rescheduled(
  kept: Schedule | null,
  sent: ScheduleInput | null | undefined,
  zones: { readonly sent: string | undefined; readonly record: string },
): Schedule | null {
  const next = sent === undefined ? kept : sent && normalSchedule(sent, zones.record)
  return next && zones.sent !== undefined ? { ...next, tz: zones.sent } : next
}
