import { expect, test } from 'vitest'
import { batched } from '../../../../src/adapters/sqlite/batch-per-tick.ts'

/** Doubles numbers, none of a batch that holds a negative one, and tells which batches it was given. */
function doubling() {
  const batches: (readonly number[])[] = []
  const double = batched((numbers: readonly number[]) => {
    batches.push(numbers)
    if (numbers.some((number) => number < 0)) throw new Error('Less than nothing.')
    return numbers.map((number) => 2 * number)
  })
  return { batches, double }
}

test('what one turn gathers is done together, and each gets its own outcome', async () => {
  const { batches, double } = doubling()
  expect(await Promise.all([double(1), double(2), double(3)])).toEqual([2, 4, 6])
  expect(await double(4)).toBe(8)
  expect(batches).toEqual([[1, 2, 3], [4]])
})

test('one that fails is alone in it', async () => {
  const { batches, double } = doubling()
  const outcomes = await Promise.allSettled([double(1), double(-1), double(2)])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(batches).toEqual([[1, -1, 2], [1], [-1], [2]])
})
