import { describe, expect, it } from 'vitest'
import {
  type DialFailure,
  healthAfterConnection,
  healthAfterFailure,
  suppressionEndAt,
  type TargetHealth,
} from '../../../src/domain/routing/target-health.ts'
import { SUPPRESSION_SECONDS, TARGET_FAILURES } from '../../../src/domain/shared/limits.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const failure = (seconds = 0, more: Partial<DialFailure> = {}): DialFailure => ({
  outcome: 'busy',
  sipCode: 486,
  retryAfterSeconds: null,
  occurredAt: instantAfter(seconds),
  ...more,
})
const failing = (...failures: readonly DialFailure[]) =>
  failures.reduce<TargetHealth | null>((health, one) => healthAfterFailure(health, one), null)
const times = (count: number, more: Partial<DialFailure> = {}) =>
  failing(...Array.from({ length: count }, () => failure(0, more)))
const unavailable = (retryAfterSeconds: number | null, seconds = 0) =>
  failure(seconds, { outcome: 'failed', sipCode: 503, retryAfterSeconds })

describe('the health of a target', () => {
  it.each([
    [1, 'degraded'],
    [2, 'degraded'],
    [3, 'down'],
    [9, 'down'],
  ])('after %d failures in a row is %s', (count, health) => {
    expect(times(count)).toMatchObject({ health, consecutiveFailures: count, lastError: 'busy (SIP 486)' })
  })

  it('is healthy after a connection; the latest error stays', () => {
    expect(healthAfterConnection(times(7))).toEqual({
      health: 'healthy',
      lastError: 'busy (SIP 486)',
      consecutiveFailures: 0,
      suppressedFrom: null,
      suppressedUntil: null,
    })
    expect(healthAfterConnection(null)).toMatchObject({ health: 'healthy', lastError: null })
    expect(healthAfterFailure(healthAfterConnection(times(7)), failure())).toMatchObject({ consecutiveFailures: 1 })
  })

  it('names an error without SIP code by its outcome', () => {
    expect(times(1, { outcome: 'no_answer', sipCode: null })?.lastError).toBe('no_answer')
  })
})

describe('a target is suppressed', () => {
  const seconds = (health: TargetHealth | null) =>
    health?.suppressedUntil ? (Date.parse(health.suppressedUntil) - Date.parse(NOW)) / 1_000 : 0

  it.each([
    [1, 0],
    [4, 0],
    [5, 60],
    [6, 120],
    [7, 240],
    [8, 480],
    [9, 900],
    [10, 900],
    [2_000, 900],
  ])('by %d failures in a row for %d seconds', (count, off) => {
    expect(seconds(times(count))).toBe(off)
  })

  it.each([
    [null, 30],
    [0, 0],
    [1, 1],
    [600, 600],
    [3_600, 3_600],
    [3_601, 3_600],
    [86_400, 3_600],
    [-5, 0],
  ])('at once by a 503 with a Retry-After of %s seconds, for %d', (asked, off) => {
    expect(seconds(failing(unavailable(asked)))).toBe(off)
  })

  it('not by another code with a Retry-After', () => {
    expect(seconds(failing(failure(0, { sipCode: 500, retryAfterSeconds: 600 })))).toBe(0)
  })

  it('for the longer of the two durations, and never shorter than before', () => {
    const four = [failure(), failure(), failure(), failure()]
    expect(seconds(failing(...four, unavailable(10)))).toBe(60)
    expect(seconds(failing(...four, unavailable(100)))).toBe(100)
    expect(seconds(failing(unavailable(600), failure()))).toBe(600)
    expect(seconds(failing(unavailable(600), unavailable(null, 1)))).toBe(600)
  })

  it('from the failure until the end of the duration, to the millisecond', () => {
    const health = times(TARGET_FAILURES.suppressed)
    const until = instantAfter(SUPPRESSION_SECONDS.first)
    expect(suppressionEndAt(health, NOW)).toBe(until)
    expect(suppressionEndAt(health, instantAfter(59.999))).toBe(until)
    expect(suppressionEndAt(health, until)).toBeNull()
    expect(suppressionEndAt(health, instantAfter(-0.001))).toBeNull()
    expect(suppressionEndAt(null, NOW)).toBeNull()
  })

  it('in one period when failures overlap, in any order, and in a new one when they do not', () => {
    expect(failing(unavailable(60), unavailable(60, 30))).toMatchObject({
      suppressedFrom: NOW,
      suppressedUntil: instantAfter(90),
    })
    expect(failing(unavailable(60, 30), unavailable(60))).toMatchObject({
      suppressedFrom: NOW,
      suppressedUntil: instantAfter(90),
    })
    expect(failing(unavailable(60), unavailable(60, 61))).toMatchObject({
      suppressedFrom: instantAfter(61),
      suppressedUntil: instantAfter(121),
    })
    expect(failing(unavailable(60, 61), unavailable(60))).toMatchObject({
      suppressedFrom: instantAfter(61),
      suppressedUntil: instantAfter(121),
    })
  })
})
