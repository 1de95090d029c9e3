import { describe, expect, test } from 'vitest'
import { seedCalls } from '../../../src/seed/seed-calls.ts'

const HOUR_MS = 3_600_000
const FORTNIGHT = Array.from({ length: 14 * 24 }, (_, hour) => Date.UTC(2026, 9, 25) + hour * HOUR_MS)

/** The most calls of a campaign that begin on one UTC day. */
function busiestDay(campaign: string, now: number): number {
  const days = seedCalls(now).filter((call) => call.campaign === campaign && call.from !== null)
  const counts = [...Map.groupBy(days, ({ at }) => at.slice(0, 10)).values()].map(({ length }) => length)
  return Math.max(...counts)
}

describe('the calls of a first start', () => {
  test('are the same whenever it is, about 200 of them in the seven days before, an hour old at least', () => {
    const [first] = FORTNIGHT
    const calls = (now: number) => seedCalls(now).map(({ at, ...call }) => call)
    for (const now of FORTNIGHT) {
      const times = seedCalls(now).map(({ at }) => Date.parse(at))
      expect(calls(now)).toEqual(calls(first ?? 0))
      expect(times.length).toBeGreaterThan(180)
      expect(Math.min(...times)).toBeGreaterThanOrEqual(now - 7 * 24 * HOUR_MS - HOUR_MS)
      expect(Math.max(...times)).toBeLessThanOrEqual(now - HOUR_MS)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }
  })

  test('pass the daily caps of the campaign and of the target on some day, whenever it is', () => {
    for (const now of FORTNIGHT) {
      // One of them may be a caller who is blocked.
      expect(busiestDay('capped', now)).toBeGreaterThan(3)
      expect(busiestDay('skips', now)).toBeGreaterThan(3)
    }
  })
})
