import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRatesLimiter, createSharedRatesLimiter } from '../../../../src/runtime/rates/rates-limiter.ts'
import { createManualClock, type ManualClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const ID = 'publisher-key:a'

describe.each([
  { name: 'in one process', open: createRatesLimiter },
  { name: 'shared', open: (clock: ManualClock) => createSharedRatesLimiter(createMemoryOperationalStore(), clock) },
])('a limiter of several rates, $name', ({ open }) => {
  test('asks to wait for the window at most, and allows a request after that', async () => {
    const clock = createManualClock()
    const limiter = open(clock)
    const rates = [
      { limit: 1, windowMs: MINUTE },
      { limit: 100, windowMs: HOUR },
    ]
    const consume = () => limiter.consume(ID, rates)
    expect(await consume()).toMatchObject({ allowed: true, remaining: 0 })
    expect(await consume()).toMatchObject({ allowed: false, nextMs: MINUTE })
    await clock.advance(MINUTE - 1)
    expect(await consume()).toMatchObject({ allowed: false, nextMs: 1 })
    await clock.advance(1)
    expect(await consume()).toMatchObject({ allowed: true })
  })

  test('never asks to wait longer than the window, and no window holds more than the limit', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 6 }),
        async (waits, limit) => {
          const clock = createManualClock()
          const limiter = open(clock)
          const counted: number[] = []
          for (const wait of waits) {
            await clock.jump(wait)
            const { allowed, nextMs } = await limiter.consume(ID, [{ limit, windowMs: MINUTE }])
            if (allowed) counted.push(clock.now())
            expect(nextMs).toBeLessThanOrEqual(MINUTE)
            expect(nextMs > 0).toBe(!allowed)
            expect(counted.filter((at) => at > clock.now() - MINUTE).length).toBeLessThanOrEqual(limit)
          }
        },
      ),
      { numRuns: 25 },
    ))

  test('asks to wait for the window at most after the clock was set back', async () => {
    const clock = createManualClock()
    const limiter = open(clock)
    const consume = () => limiter.consume(ID, [{ limit: 1, windowMs: MINUTE }])
    await consume()
    await clock.jump(-5_000)
    expect(await consume()).toMatchObject({ allowed: false, nextMs: MINUTE })
  })
})
