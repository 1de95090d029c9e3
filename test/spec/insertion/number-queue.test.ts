import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNumberQueue } from '../../../src/reactions/number-queue.ts'

test('the first number has the smallest instant, ties by id', () => {
  const queue = createNumberQueue([
    ['c', 5],
    ['b', 2],
    ['a', 2],
  ])
  expect(queue.first()).toEqual({ id: 'a', at: 2 })
  queue.set('a', 9)
  expect(queue.first()).toEqual({ id: 'b', at: 2 })
  queue.set('c', 1)
  expect(queue.first()).toEqual({ id: 'c', at: 1 })
})

test('no numbers have no first', () => {
  expect(createNumberQueue([]).first()).toBeUndefined()
})

test('whatever is set, the first is the first of all', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 20 })), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (sets) => {
      const known = new Map<string, number>()
      const queue = createNumberQueue([])
      for (const [n, at] of sets) {
        known.set(String(n), at)
        queue.set(String(n), at)
        const [first] = [...known].toSorted(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
        expect(queue.first()).toEqual({ id: first?.[0], at: first?.[1] })
      }
    }),
  )
})
