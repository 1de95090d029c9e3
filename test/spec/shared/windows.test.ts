import { describe, expect, it } from 'vitest'
import { addToCounts, NO_COUNTS, windowsOf } from '../../../src/domain/shared/windows.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const HOUR = 3_600_000
const before = (ms: number) => new Date(Date.parse(NOW) - ms).toISOString()

describe('windowsOf', () => {
  it.each([
    ['2026-12-31T23:59:59.999Z', { hour: '2026-12-31T23', day: '2026-12-31', month: '2026-12' }],
    ['2027-01-01T00:00:00.000Z', { hour: '2027-01-01T00', day: '2027-01-01', month: '2027-01' }],
  ])('names the UTC windows of %s', (instant, windows) => {
    expect(windowsOf(instant)).toEqual(windows)
  })
})

describe('addToCounts', () => {
  it('adds and subtracts in the given windows, never below zero', () => {
    const counts = addToCounts(NO_COUNTS, Object.values(windowsOf(NOW)), 2, NOW)
    expect(counts.toObject()).toEqual({ '2026-03-10T15': 2, '2026-03-10': 2, '2026-03': 2 })
    expect(addToCounts(counts, ['2026-03-10'], -3, NOW).get('2026-03-10')).toBe(0)
    expect(counts.get('2026-03-10')).toBe(2)
  })

  it.each([
    ['an hour', 'hour', 48 * HOUR],
    ['a day', 'day', 62 * 24 * HOUR],
    ['a month', 'month', 13 * 31 * 24 * HOUR],
  ] as const)('keeps %s as long as it may be asked for, and no longer', (_what, kind, ms) => {
    const unit = { hour: HOUR, day: 24 * HOUR, month: 31 * 24 * HOUR }[kind]
    const [kept, gone] = [windowsOf(before(ms))[kind], windowsOf(before(ms + unit))[kind]]
    const old = addToCounts(addToCounts(NO_COUNTS, [gone], 1, before(ms)), [kept], 1, before(ms))
    const counts = addToCounts(old, [windowsOf(NOW)[kind]], 1, NOW)
    expect([counts.has(kept), counts.has(gone), counts.get(windowsOf(NOW)[kind])]).toEqual([true, false, 1])
  })
})
