import { describe, expect, it } from 'vitest'
import { localDays } from '../../../src/domain/shared/local-days.ts'

const ms = (at: string) => Date.parse(at)
const hours = ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) => (toMs - fromMs) / 3_600_000

describe('the days of a zone', () => {
  it('are those that the window has a part of', () => {
    const days = localDays('America/New_York', ms('2026-06-02T03:59:59.999Z'), ms('2026-06-03T04:00:00.001Z'))
    expect(days.map(({ date }) => date)).toEqual(['2026-06-01', '2026-06-02', '2026-06-03'])
    expect(days[1]).toEqual({ date: '2026-06-02', fromMs: ms('2026-06-02T04:00Z'), toMs: ms('2026-06-03T04:00Z') })
  })

  it('end where the window ends at midnight, and are none for an empty one', () => {
    const midnight = ms('2026-06-03T04:00Z')
    const days = localDays('America/New_York', ms('2026-06-02T04:00Z'), midnight)
    expect(days.map(({ date }) => date)).toEqual(['2026-06-02'])
    expect(localDays('America/New_York', midnight, midnight)).toEqual([])
  })

  it.each([
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    // Midnight does not exist on the day on which the clocks go forward.
    ['America/Santiago', '2026-09-06', 23],
    ['Asia/Kolkata', '2026-03-08', 24],
  ])('in %s have their own length: %s has %d hours', (zone, date, expected) => {
    const days = localDays(zone, ms(`${date}T12:00Z`) - 2 * 86_400_000, ms(`${date}T12:00Z`) + 2 * 86_400_000)
    const day = days.find((one) => one.date === date)
    expect(day && hours(day)).toBe(expected)
    for (const [n, one] of days.entries()) if (n > 0) expect(one.fromMs).toBe(days[n - 1]?.toMs)
    expect(new Set(days.map((one) => one.date)).size).toBe(days.length)
  })
})
