import { localMidnight, localTime } from './hours.ts'

/** A day of a zone's calendar (`YYYY-MM-DD`), and its instants (ms since the epoch): from `fromMs`, before `toMs`. */
export interface LocalDay {
  readonly date: string
  readonly fromMs: number
  readonly toMs: number
}

/** The days of a zone's calendar that a window has a part of, the earliest first. A day may have 23, 24 or 25 hours. */
export function localDays(zone: string, fromMs: number, toMs: number): readonly LocalDay[] {
  const days: LocalDay[] = []
  for (let start = localMidnight(zone, fromMs, 0); start < toMs; ) {
    const next = localMidnight(zone, start, -1)
    days.push({ date: localTime(zone, start).slice(0, 10), fromMs: start, toMs: next })
    start = next
  }
  return days
}
