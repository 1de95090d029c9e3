import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { isOpen, localHour, localMidnight, localTime, offsetAt } from '../../../src/domain/shared/hours.ts'
import { normalizeSchedule, scheduleInput, scheduleProblem } from '../../../src/domain/shared/schedule.ts'
import { isZone } from '../../../src/domain/shared/zones.ts'

const NEW_YORK = 'America/New_York'
const at = (instant: string) => Date.parse(instant)
const open = (days: Record<string, [string, string][]>, tz = NEW_YORK) => normalizeSchedule({ tz, days }, 'UTC')

describe('isOpen', () => {
  const weekdays = open({ mon: [['09:00', '17:00']] })

  it('is always open without a schedule', () => {
    expect(isOpen(null, 0, 'UTC')).toBe(true)
  })

  it('includes the opening minute and excludes the closing minute, by the wall clock', () => {
    const monday = [
      '2026-03-02T13:59:59.999Z',
      '2026-03-02T14:00:00.000Z',
      '2026-03-02T21:59:59.999Z',
      '2026-03-02T22:00:00.000Z',
    ]
    expect(monday.map((instant) => isOpen(weekdays, at(instant), 'UTC'))).toEqual([false, true, true, false])
    expect(isOpen(weekdays, at('2026-03-03T15:00:00Z'), 'UTC')).toBe(false)
  })

  it('opens at the same local time before and after a clock change', () => {
    expect(isOpen(weekdays, at('2026-03-09T13:00:00Z'), 'UTC')).toBe(true)
    expect(isOpen(weekdays, at('2026-03-02T13:00:00Z'), 'UTC')).toBe(false)
    expect(isOpen(weekdays, at('2026-11-02T14:00:00Z'), 'UTC')).toBe(true)
  })

  it('is open in both hours that a clock change repeats', () => {
    const night = open({ sun: [['01:00', '02:00']] })
    expect(isOpen(night, at('2026-11-01T05:30:00Z'), 'UTC')).toBe(true)
    expect(isOpen(night, at('2026-11-01T06:30:00Z'), 'UTC')).toBe(true)
    expect(isOpen(night, at('2026-11-01T07:30:00Z'), 'UTC')).toBe(false)
  })

  it('accepts 24:00 as the end of the day', () => {
    const late = open({ mon: [['22:00', '24:00']] }, 'UTC')
    expect(isOpen(late, at('2026-03-02T23:59:59Z'), 'UTC')).toBe(true)
    expect(isOpen(late, at('2026-03-03T00:00:00Z'), 'UTC')).toBe(false)
  })

  it('uses the record’s zone when the schedule has none', () => {
    const bare = { ...open({ mon: [['09:00', '10:00']] }), tz: '' }
    expect(isOpen(bare, at('2026-03-02T09:30:00Z'), 'UTC')).toBe(true)
    expect(isOpen(bare, at('2026-03-02T09:30:00Z'), NEW_YORK)).toBe(false)
  })
})

describe('offsets and midnights', () => {
  const zones = [
    'UTC',
    NEW_YORK,
    'Europe/London',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Pacific/Apia',
  ]
  const instants = fc.integer({ min: at('1975-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') })

  it('agree with Temporal in any zone at any instant', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), instants, fc.integer({ min: -1, max: 40 }), (zone, instant, back) => {
        const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
        expect(offsetAt(zone, instant) * 1_000_000).toBe(local.offsetNanoseconds)
        const midnight = Temporal.Instant.fromEpochMilliseconds(localMidnight(zone, instant, back)).toZonedDateTimeISO(
          zone,
        )
        expect(midnight.toPlainDate().toString()).toBe(local.toPlainDate().subtract({ days: back }).toString())
      }),
    )
  })

  it('find the first instant of a day on which the clocks change', () => {
    expect(new Date(localMidnight(NEW_YORK, at('2026-03-09T03:30:00Z'), 0)).toISOString()).toBe(
      '2026-03-08T05:00:00.000Z',
    )
    expect(new Date(localMidnight(NEW_YORK, at('2026-03-09T04:30:00Z'), 0)).toISOString()).toBe(
      '2026-03-09T04:00:00.000Z',
    )
    expect(new Date(localMidnight(NEW_YORK, at('2026-03-09T04:30:00Z'), 1)).toISOString()).toBe(
      '2026-03-08T05:00:00.000Z',
    )
    expect(new Date(localMidnight('Africa/Cairo', at('2026-04-24T12:00:00Z'), 0)).toISOString()).toBe(
      '2026-04-23T22:00:00.000Z',
    )
  })
})

describe('local times', () => {
  /** By the hour where that has one name, else one by one. */
  const inTurn = (zone: string, instants: readonly number[]) =>
    instants.map((instant) => {
      const [hour = '', ...rest] = new Date(instant).toISOString().slice(0, -'.000Z'.length).split(':')
      const local = localHour(zone, hour)
      return local === null ? localTime(zone, instant) : [local, ...rest].join(':')
    })

  it('do not depend on the cache, in any zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      NEW_YORK,
      'Asia/Kolkata',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    )
    const some = fc.array(fc.integer({ min: at('1975-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }))
    const near = fc.array(fc.integer({ min: at('2026-10-03T14:00:00Z'), max: at('2026-10-03T18:00:00Z') }))
    fc.assert(
      fc.property(zones, fc.oneof(some, near), (zone, instants) => {
        expect(inTurn(zone, instants)).toEqual(instants.map((instant) => localTime(zone, instant)))
      }),
    )
  })

  it('follow clocks that change within an hour of UTC, and by half an hour', () => {
    const around = ['2026-10-03T15:29:59.999Z', '2026-10-03T15:30:00.000Z', '2026-10-03T16:10:00.000Z'].map(at)
    expect(inTurn('Australia/Lord_Howe', around)).toEqual([
      '2026-10-04 01:59:59',
      '2026-10-04 02:30:00',
      '2026-10-04 03:10:00',
    ])
    // Kathmandu moved from +5:30 to +5:45 at the end of 1985.
    expect(inTurn('Asia/Kathmandu', ['1985-12-31T18:29:59.000Z', '1985-12-31T18:30:00.000Z'].map(at))).toEqual([
      '1985-12-31 23:59:59',
      '1986-01-01 00:15:00',
    ])
    expect(inTurn(NEW_YORK, ['2026-11-01T05:59:59.000Z', '2026-11-01T06:00:00.000Z'].map(at))).toEqual([
      '2026-11-01 01:59:59',
      '2026-11-01 01:00:00',
    ])
  })
})

describe('schedules and zones', () => {
  const problem = (windows: [string, string][], day = 'mon') => scheduleProblem({ tz: 'UTC', days: { [day]: windows } })
  const inSix = Array.from({ length: 6 }, (_, n): [string, string] => [`0${n}:00`, `0${n}:30`])
  const taken = (...mon: [string, string][]) => scheduleInput.safeParse({ days: { mon } }).success

  it.each<[string, [string, string][]]>([
    ['24:00 as an opening time', [['24:00', '24:00']]],
    ['a time past the day', [['09:00', '24:01']]],
    ['a time without a leading nought', [['9:00', '10:00']]],
    ['a window that closes before it opens', [['10:00', '09:00']]],
    ['a window of no length', [['10:00', '10:00']]],
    ['seven windows', [...inSix, ['06:00', '06:30']]],
  ])('does not take %s', (_what, windows) => {
    expect(taken(...windows)).toBe(false)
  })

  it.each([
    ['a day that is none', problem([['09:00', '10:00']], 'noday')],
    ['seven closed days', problem([])],
    ['a zone that does not exist', scheduleProblem({ tz: 'Nowhere/Else', days: { mon: [['09:00', '10:00']] } })],
    ['an empty zone', scheduleProblem({ tz: '', days: { mon: [['09:00', '10:00']] } })],
  ])('refuses %s', (_what, found) => {
    expect(found).toEqual(expect.any(String))
  })

  it('accept at most six windows a day', () => {
    expect(taken(...inSix)).toBe(true)
    expect(problem(inSix)).toBeNull()
  })

  it('accept IANA zones and refuse offsets', () => {
    expect([NEW_YORK, 'UTC', 'Asia/Kolkata'].map(isZone)).toEqual([true, true, true])
    expect(['+01:00', '-0500', 'Nowhere/Else', '', ' UTC'].map(isZone)).toEqual([false, false, false, false, false])
  })
})
