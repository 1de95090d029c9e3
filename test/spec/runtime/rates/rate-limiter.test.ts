import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OperationalStore } from '../../../../src/ports/operational-store.ts'
import type { RateLimiter } from '../../../../src/ports/rate-limiter.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { createRateLimiter } from '../../../../src/runtime/rates/rate-limiter.ts'
import { createSharedRateLimiter } from '../../../../src/runtime/rates/shared-rate-limiter.ts'
import { createManualClock, type ManualClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

const MINUTE = 60_000
const rate = (limit: number) => ({ limit, windowMs: MINUTE })

interface Limiters {
  readonly name: string
  /** Limiters that are to count as one. */
  readonly open: (clock: ManualClock) => readonly (RateLimiter & { readonly size: () => number })[]
}

const kinds: readonly Limiters[] = [
  { name: 'in one process', open: (clock) => [createRateLimiter(clock)] },
  {
    name: 'shared by three processes',
    open(clock) {
      const ops = createMemoryOperationalStore()
      return [1, 2, 3].map(() => createSharedRateLimiter(ops, clock))
    },
  },
]

describe.each(kinds)('a rate limiter $name', ({ open }) => {
  function world() {
    const clock = createManualClock()
    const limiters = open(clock)
    const [first] = limiters
    if (!first) throw new Error('There is no limiter.')
    const at = (n: number) => limiters[n % limiters.length] ?? first
    const takeMany = async (count: number, limit: number, id = 'key:a') => {
      const all = await Promise.all(Array.from({ length: count }, (_, n) => at(n).consume(id, rate(limit))))
      return all.filter(({ allowed }) => allowed).length
    }
    return { clock, first, at, takeMany, limiters }
  }

  test('allows exactly the limit of 100 concurrent requests, separately for each id', async () => {
    const { takeMany } = world()
    expect(await Promise.all([takeMany(100, 60), takeMany(100, 100, 'key:b')])).toEqual([60, 100])
    expect(await takeMany(100, 60)).toBe(0)
  })

  test('counts a request for exactly a minute', async () => {
    const { clock, takeMany, at } = world()
    expect(await takeMany(2, 3)).toBe(2)
    await clock.advance(30_000)
    expect(await takeMany(2, 3)).toBe(1)
    await clock.advance(29_999)
    expect(await at(1).consume('key:a', rate(3))).toEqual({ allowed: false, remaining: 0, nextMs: 1 })
    await clock.advance(1)
    expect(await takeMany(3, 3)).toBe(2)
    expect(await at(2).peek('key:a', rate(3))).toEqual({ allowed: false, remaining: 0, nextMs: 30_000 })
    await clock.advance(30_000)
    expect(await takeMany(3, 3)).toBe(1)
  })

  test('does not count refused requests or peeks', async () => {
    const { clock, takeMany, first } = world()
    expect(await takeMany(1, 1)).toBe(1)
    for (let n = 0; n < 59; n++) {
      await clock.advance(1_000)
      expect(await takeMany(1, 1)).toBe(0)
      expect((await first.peek('key:a', rate(1))).allowed).toBe(false)
    }
    await clock.advance(1_000)
    expect(await takeMany(2, 1)).toBe(1)
  })

  test('returns the remaining requests and the time until the next one is allowed', async () => {
    const { clock, first } = world()
    expect(await first.peek('key:a', rate(2))).toEqual({ allowed: true, remaining: 2, nextMs: 0 })
    expect(await first.consume('key:a', rate(2))).toEqual({ allowed: true, remaining: 1, nextMs: MINUTE })
    await clock.advance(10_000)
    expect(await first.consume('key:a', rate(2))).toEqual({ allowed: true, remaining: 0, nextMs: 50_000 })
    expect(await first.consume('key:a', rate(2))).toEqual({ allowed: false, remaining: 0, nextMs: 50_000 })
  })

  test('applies a changed limit from the next request on', async () => {
    const { clock, takeMany, first } = world()
    expect(await takeMany(5, 5)).toBe(5)
    expect(await takeMany(5, 7)).toBe(2)
    await clock.advance(1_000)
    expect(await first.consume('key:a', rate(3))).toEqual({ allowed: false, remaining: 0, nextMs: 59_000 })
    await clock.advance(59_000)
    expect(await takeMany(5, 3)).toBe(3)
  })

  test('no window of a minute ever holds more than the limit', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.nat(4)), { maxLength: 25 }),
        fc.integer({ min: 1, max: 6 }),
        async (steps, limit) => {
          const { clock, takeMany } = world()
          const counted: number[] = []
          for (const [wait, count] of steps) {
            await clock.advance(wait)
            const now = clock.now()
            const room = limit - counted.filter((at) => at > now - MINUTE).length
            const allowed = await takeMany(count, limit)
            expect(allowed).toBe(Math.min(room, count))
            counted.push(...Array.from({ length: allowed }, () => now))
          }
        },
      ),
      { numRuns: 25 },
    ))

  test('forgets ids that made no request for a window', async () => {
    const { clock, takeMany, limiters } = world()
    for (let n = 0; n < 50; n++) await takeMany(limiters.length, 5, `key:${n}`)
    expect(limiters.map(({ size }) => size())).toEqual(limiters.map(() => 50))
    await clock.advance(MINUTE)
    await takeMany(limiters.length, 5, 'key:last')
    expect(limiters.map(({ size }) => size())).toEqual(limiters.map(() => 1))
  })
})

describe('a shared rate limiter', () => {
  test('reads a window again once its entry has expired, since another process may have begun a new one', async () => {
    const clock = createManualClock()
    const ops = createMemoryOperationalStore()
    const [one, other] = [createSharedRateLimiter(ops, clock), createSharedRateLimiter(ops, clock)]
    await one.consume('key:a', rate(3))
    await one.consume('key:a', rate(3))
    await clock.advance(MINUTE - 1)
    await one.peek('key:a', rate(3))
    await clock.advance(1)
    await other.consume('key:a', rate(3))
    await other.consume('key:a', rate(3))
    expect(await one.consume('key:a', rate(3))).toMatchObject({ allowed: true, remaining: 0 })
    expect(await one.consume('key:a', rate(3))).toMatchObject({ allowed: false })
  })

  test('writes once for all waiting requests', async () => {
    const ops = createMemoryOperationalStore()
    let writes = 0
    const counting: Pick<OperationalStore, 'get' | 'putIf'> = {
      get: ops.get,
      putIf: (...put) => {
        writes += 1
        return ops.putIf(...put)
      },
    }
    const limiter = createSharedRateLimiter(counting, createManualClock())
    await Promise.all(Array.from({ length: 100 }, () => limiter.consume('key:a', rate(60))))
    expect(writes).toBe(2)
  })

  test('rejects while the store is unavailable, and counts again when it is back', async () => {
    const ops = createMemoryOperationalStore()
    let away = true
    const failing: Pick<OperationalStore, 'get' | 'putIf'> = {
      get: async (...asked) => (away ? Promise.reject(new StoreUnavailable('away')) : ops.get(...asked)),
      putIf: async (...put) => (away ? Promise.reject(new StoreUnavailable('away')) : ops.putIf(...put)),
    }
    const limiter = createSharedRateLimiter(failing, createManualClock())
    await expect(limiter.consume('key:a', rate(2))).rejects.toThrow(StoreUnavailable)
    away = false
    expect(await limiter.consume('key:a', rate(2))).toMatchObject({ allowed: true, remaining: 1 })
  })
})
