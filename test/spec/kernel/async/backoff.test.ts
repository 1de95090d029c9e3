import { describe, expect, test } from 'vitest'
import { backOffMs, waitBeforeRetry } from '../../../../src/kernel/async/backoff.ts'
import { createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'

describe('a back-off', () => {
  test('doubles from the first delay up to the largest', () => {
    expect([1, 2, 3, 7, 8, 1_000].map((attempt) => backOffMs(attempt))).toEqual([50, 100, 200, 3_200, 5_000, 5_000])
    expect([1, 2, 3].map((attempt) => backOffMs(attempt, { firstMs: 250, maxMs: 600 }))).toEqual([250, 500, 600])
  })

  test('with jitter lies between half of the delay and the whole', () => {
    expect([0, 0.5, 1].map((jitter) => backOffMs(2, { jitter }))).toEqual([50, 75, 100])
  })

  test('waits on the clock, and no longer than the signal allows', async () => {
    const clock = createManualClock()
    const stop = new AbortController()
    const seen: string[] = []
    void waitBeforeRetry(clock, 3, stop.signal).then(() => seen.push('retry'))
    await clock.advance(199)
    expect(seen).toEqual([])
    await clock.advance(1)
    expect(seen).toEqual(['retry'])
    void waitBeforeRetry(clock, 3, stop.signal).then(() => seen.push('stopped'))
    stop.abort()
    await flushEventLoop()
    expect(seen).toEqual(['retry', 'stopped'])
  })
})
