import { expect, test } from 'vitest'
import { createInFlight } from '../../../src/kernel/in-flight.ts'

test('holds what is under way until it is done', () => {
  const table = createInFlight<string, number>()
  table.set('a', 1)
  table.set('b', 2)
  table.set('a', 3)
  expect([table.get('a'), table.get('b'), table.get('c'), table.size]).toEqual([3, 2, undefined, 2])
  table.delete('a')
  table.delete('a')
  expect([table.get('a'), table.size, table.values()]).toEqual([undefined, 1, [2]])
  table.clear()
  expect([table.get('b'), table.size, table.values()]).toEqual([undefined, 0, []])
})

test('takes the names that every object inherits for keys like any other', () => {
  const table = createInFlight<string, number>()
  for (const key of ['__proto__', 'constructor', 'toString']) {
    expect(table.get(key)).toBeUndefined()
    table.set(key, 1)
    expect(table.get(key)).toBe(1)
  }
  expect(table.size).toBe(3)
})
