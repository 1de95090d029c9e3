import { expect, test } from 'vitest'
import { createKeyedMutex, createMutex } from '../../../../src/kernel/async/mutex.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

test('a mutex runs tasks one after the other, in order, also after one that failed', async () => {
  const mutex = createMutex()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = mutex(async () => {
    await gate.promise
    seen.push('first')
    throw new Error('broken')
  })
  const second = mutex(async () => {
    seen.push('second')
    return 2
  })
  const failed = expect(first).rejects.toThrow('broken')
  await flushEventLoop()
  expect(seen).toEqual([])
  gate.resolve()
  await failed
  expect(await second).toBe(2)
  expect(seen).toEqual(['first', 'second'])
})

test('a keyed mutex makes only the tasks of one key wait for each other', async () => {
  const mutex = createKeyedMutex()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const task =
    (name: string, wait: Promise<void> = Promise.resolve()) =>
    async () => {
      seen.push(`${name} starts`)
      await wait
      seen.push(`${name} ends`)
    }
  const all = [mutex('a', task('a1', gate.promise)), mutex('a', task('a2')), mutex('b', task('b1'))]
  await flushEventLoop()
  expect(seen).toEqual(['a1 starts', 'b1 starts', 'b1 ends'])
  gate.resolve()
  await Promise.all(all)
  expect(seen.slice(3)).toEqual(['a1 ends', 'a2 starts', 'a2 ends'])
})
