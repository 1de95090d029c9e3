import type { ScheduleModel } from './state.ts'

const WEEKDAYS = new Map<string, Intl.DateTimeFormat>()

/** Whether a schedule is open by the wall clock of its zone. The closing time is exclusive. */
export function opensAt(schedule: ScheduleModel | null, at: number): boolean {
  if (schedule === null) return true
  const { tz } = schedule
  const options = { timeZone: tz, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const wall = WEEKDAYS.get(tz) ?? new Intl.DateTimeFormat('en-GB', options)
  WEEKDAYS.set(tz, wall)
  const [day = '', clock = ''] = wall.format(at).replace(',', '').split(' ')
  return (schedule.days[day.toLowerCase()] ?? []).some(([open, close]) => clock >= open && clock < close)
}
