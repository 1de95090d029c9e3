import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setEntry, wouldContain } from '../../../src/domain/shared/windowed-map.ts'
import { createWindowedMap, getEntry, type WindowedMap } from '../../../src/kernel/windowed-map.ts'

const START = Date.UTC(2026, 2, 10)
const HOUR = 3_600_000
const at = (ms: number) => new Date(START + ms).toISOString()
const mintedAt = (ms: number) => {
  const hex = (START + ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
const filled = (instants: readonly number[]): WindowedMap<number> =>
  instants.reduce((recent, ms, n) => setEntry(recent, `key${n}`, n, at(ms)), createWindowedMap<number>())

describe('what is remembered', () => {
  it('is the latest value of a key', () => {
    const recent = setEntry(filled([0]), 'key0', 7, at(1))
    expect([getEntry(recent, 'key0'), getEntry(recent, 'key1')]).toEqual([7, null])
  })

  it('lasts an hour at least and goes within two', () => {
    const instants = [0, HOUR - 1, HOUR, 2 * HOUR - 1, 2 * HOUR]
    const known = (count: number) => {
      const recent = filled(instants.slice(0, count))
      return instants.slice(0, count).map((_, n) => getEntry(recent, `key${n}`) !== null)
    }
    expect(known(4)).toEqual([true, true, true, true])
    expect(known(5)).toEqual([false, false, true, true, true])
  })

  it('is never forgotten within the hour, and what an id says to be covered never at all', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 100 * 60_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: 3 * HOUR }), (gaps, age) => {
        const instants = gaps.map((_, n) => gaps.slice(0, n + 1).reduce((sum, gap) => sum + gap))
        const recent = filled(instants)
        const last = instants.at(-1) ?? 0
        instants.forEach((ms, n) => {
          const forgotten = getEntry(recent, `key${n}`) === null
          if (last - ms < HOUR) expect(forgotten).toBe(false)
          // An id is minted no later than what is recorded of it.
          if (wouldContain(recent, mintedAt(Math.max(-HOUR, ms - age)))) expect(forgotten).toBe(false)
        })
      }),
    )
  })
})

describe('coversId', () => {
  it('covers everything while nothing has been forgotten', () => {
    expect(wouldContain(createWindowedMap(), mintedAt(-99 * HOUR))).toBe(true)
    expect(wouldContain(filled([0, HOUR - 1]), mintedAt(-99 * HOUR))).toBe(true)
  })

  it('covers what was minted inside the hour before the newer part began', () => {
    const recent = filled([0, HOUR])
    expect([wouldContain(recent, mintedAt(0)), wouldContain(recent, mintedAt(-1))]).toEqual([true, false])
  })
})
