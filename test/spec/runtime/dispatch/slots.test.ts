import { expect, test } from 'vitest'
import { createSlots } from '../../../../src/runtime/dispatch/slots.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

/** Takes slots under names; `order` is that in which they were given. */
function takers(count: number) {
  const slots = createSlots(count)
  const order: string[] = []
  const given = new Map<string, () => void>()
  return {
    order,
    take: (name: string) =>
      void slots.take().then((giveBack) => {
        order.push(name)
        given.set(name, giveBack)
      }),
    giveBack: (name: string) => given.get(name)?.(),
  }
}

test('slots are given at once while any is free, and then in the order in which they were asked for', async () => {
  const { order, take, giveBack } = takers(2)
  for (const name of ['a', 'b', 'c', 'd', 'e']) take(name)
  await flushEventLoop()
  expect(order).toEqual(['a', 'b'])
  giveBack('b')
  await flushEventLoop()
  expect(order).toEqual(['a', 'b', 'c'])
  giveBack('a')
  giveBack('c')
  await flushEventLoop()
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test.each([
  ['while another waits', ['c', 'd']],
  ['while nobody waits', []],
])('a slot that is given back twice %s is given once', async (_when, waiting) => {
  const { order, take, giveBack } = takers(2)
  for (const name of ['a', 'b', ...waiting]) take(name)
  await flushEventLoop()
  giveBack('a')
  giveBack('a')
  for (const name of ['e', 'f']) take(name)
  await flushEventLoop()
  expect(order).toHaveLength(3)
})

test('slots that came back while nobody waited are given again, as many as there were', async () => {
  const { order, take, giveBack } = takers(2)
  for (const name of ['a', 'b']) take(name)
  await flushEventLoop()
  for (const name of ['a', 'b']) giveBack(name)
  for (const name of ['c', 'd', 'e']) take(name)
  await flushEventLoop()
  expect(order).toEqual(['a', 'b', 'c', 'd'])
})
