import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRandom, weightedOrder } from '../../../src/domain/routing/random.ts'

const seeds = fc.integer({ min: 0, max: 0xffff_ffff })
const items = fc
  .array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 12 })
  .map((weights) => weights.map((weight, n) => ({ n, weight })))

describe('createRandom', () => {
  it('returns the same sequence for the same seed, inside [0, 1)', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const [one, same] = [createRandom(seed), createRandom(seed)]
        for (let n = 0; n < 20; n += 1) {
          const drawn = one()
          expect(drawn).toBe(same())
          expect(drawn >= 0 && drawn < 1).toBe(true)
        }
      }),
    )
  })

  it('is evenly distributed, also over the first draws of consecutive seeds', () => {
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let seed = 0; seed < 20_000; seed += 1) {
      const tenth = Math.floor(createRandom(seed)() * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(200)
  })
})

describe('weightedOrder', () => {
  it('orders all items, each once, weight 0 after all others', () => {
    fc.assert(
      fc.property(items, seeds, (items, seed) => {
        const ordered = weightedOrder(items, createRandom(seed))
        expect(ordered.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(items.map(({ n }) => n))
        const weightless = ordered.findIndex(({ weight }) => weight === 0)
        if (weightless >= 0) expect(ordered.slice(weightless).every(({ weight }) => weight === 0)).toBe(true)
      }),
    )
  })

  it('draws without replacement: each place follows the remaining weights', () => {
    const weights = [60, 30, 10, 0]
    const draws = 20_000
    const firsts = weights.map(() => 0)
    const seconds = weights.map(() => 0)
    for (let seed = 1; seed <= draws; seed += 1) {
      const [first, second, , last] = weightedOrder(
        weights.map((weight, n) => ({ weight, n })),
        createRandom(seed * 2_654_435_761),
      )
      firsts[first?.n ?? 0] = (firsts[first?.n ?? 0] ?? 0) + 1
      if (first?.n === 0) seconds[second?.n ?? 0] = (seconds[second?.n ?? 0] ?? 0) + 1
      expect(last?.n).toBe(3)
    }
    const share = (count: number | undefined, of: number) => (count ?? 0) / of
    for (const [n, weight] of [60, 30, 10].entries()) expect(share(firsts[n], draws)).toBeCloseTo(weight / 100, 1.5)
    expect(share(seconds[1], firsts[0] ?? 1)).toBeCloseTo(0.75, 1.5)
  })
})
