import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantText } from '../../../src/kernel/instant.ts'

/** The furthest instant that a date has (ms). */
const FURTHEST_MS = 8.64e15

test('An instant is written as a date writes it, whatever was written before', () => {
  const anyInstant = fc.oneof(
    fc.integer({ min: 0, max: 2_000 }),
    fc.integer({ min: -FURTHEST_MS, max: FURTHEST_MS }),
    fc.double({ min: -1_000, max: 1_000, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(anyInstant, { maxLength: 50 }), (all) => {
      for (const ms of [...all, ...all]) expect(instantText(ms)).toBe(new Date(ms).toISOString())
    }),
  )
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, FURTHEST_MS + 1])('%s is no instant', (ms) => {
  expect(() => instantText(ms)).toThrow(RangeError)
})
