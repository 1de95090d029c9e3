import { describe, expect, test } from 'vitest'
import { batched, collectPerTick, collectTwoTicks, groupPerTick } from '../../../../src/kernel/async/batch-per-tick.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

/** Doubles numbers, fails a batch that holds a negative one, and records its batches. */
function doubling() {
  const batches: (readonly number[])[] = []
  const double = batched((numbers: readonly number[]) => {
    batches.push(numbers)
    if (numbers.some((number) => number < 0)) throw new Error('Less than nothing.')
    return numbers.map((number) => 2 * number)
  })
  return { batches, double }
}

describe('batched work', () => {
  test('of one event-loop turn runs in one call, and each caller gets its own result', async () => {
    const { batches, double } = doubling()
    expect(await Promise.all([double(1), double(2), double(3)])).toEqual([2, 4, 6])
    expect(await double(4)).toBe(8)
    expect(batches).toEqual([[1, 2, 3], [4]])
  })

  test('runs alone when its batch throws, so that only the faulty work fails', async () => {
    const { batches, double } = doubling()
    const outcomes = await Promise.allSettled([double(1), double(-1), double(2)])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(batches).toEqual([[1, -1, 2], [1], [-1], [2]])
  })
})

test('grouped work of one turn runs in one call, and fails together', async () => {
  const groups: (readonly number[])[] = []
  const double = groupPerTick(async (numbers: readonly number[]) => {
    groups.push(numbers)
    if (numbers.includes(0)) throw new Error('Nothing.')
    return numbers.map((number) => 2 * number)
  })
  expect(await Promise.all([double(1), double(2)])).toEqual([2, 4])
  const outcomes = await Promise.allSettled([double(0), double(3)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(groups).toEqual([
    [1, 2],
    [0, 3],
  ])
})

test('a collector hands over a full batch at once, and the rest at the end of the turn', async () => {
  const batches: (readonly number[])[] = []
  const collect = collectPerTick<number>((items) => batches.push(items), 2)
  for (const item of [1, 2, 3]) collect(item)
  expect(batches).toEqual([[1, 2]])
  await flushEventLoop(1)
  expect(batches).toEqual([[1, 2], [3]])
  await flushEventLoop(1)
  expect(batches).toEqual([[1, 2], [3]])
})

test('items of two turns are handed over together, and those of the third are not', async () => {
  const handed: (readonly number[])[] = []
  const collect = collectTwoTicks<number>((items) => void handed.push(items))
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  collect(1)
  await turn()
  collect(2)
  expect(handed).toEqual([])
  await turn()
  collect(3)
  expect(handed).toEqual([[1, 2]])
  await flushEventLoop()
  expect(handed).toEqual([[1, 2], [3]])
})
