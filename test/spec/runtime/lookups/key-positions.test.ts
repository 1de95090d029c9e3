import { describe, expect, it } from 'vitest'
import { createKeyPositions } from '../../../../src/runtime/lookups/key-positions.ts'

const CHUNK = 16_384

describe('an index of positions by key', () => {
  it('finds what stands before each event of a key, in order, across chunks', () => {
    const index = createKeyPositions()
    const keys = 1_000
    for (let n = 0; n < CHUNK * 2 + 500; n++) index.add(`key ${n % keys}`, n * 10, n * 10 + 10)
    for (const key of [0, 1, 499, 500, 999]) {
      const before = Array.from({ length: Math.ceil((CHUNK * 2 + 500 - key) / keys) }, (_, n) => (n * keys + key) * 10)
      expect(index.find(`key ${key}`)).toEqual(before)
    }
    expect(index.find('another')).toEqual([])
    expect(index.size()).toBe(CHUNK * 2 + 500)
  })

  it('seldom finds events of other keys', () => {
    const index = createKeyPositions()
    for (let n = 0; n < 100_000; n++) index.add(`019${n}:+1212555${n}`, n, n + 1)
    const others = Array.from({ length: 10_000 }, (_, n) => index.find(`018${n}:+1212555${n}`).length)
    expect(others.reduce((sum, found) => sum + found)).toBeLessThan(5)
  })

  it('drops chunks whose last event is not after a position', () => {
    const index = createKeyPositions()
    for (let n = 0; n < CHUNK * 2; n++) index.add('key', n, n + 1)
    index.drop(CHUNK - 1)
    expect(index.size()).toBe(CHUNK * 2)
    index.drop(CHUNK)
    expect(index.find('key')).toEqual(Array.from({ length: CHUNK }, (_, n) => CHUNK + n))
    index.drop(CHUNK * 2)
    expect(index.size()).toBe(0)
  })
})
