import { expect, it } from 'vitest'
import type { ColumnSource } from '../../../../src/runtime/columns/column-source.ts'
import { createTotals } from '../../../../src/runtime/columns/column-sum.ts'

/** More values of two columns than the product of which 32 bits hold. */
const VALUES = 50_000
const LAST = VALUES - 1
const names = (of: string) => Array.from({ length: VALUES }, (_, n) => `${of}${n}`)
const dictionaries = [names('a'), names('b')]

/** Three rows with the codes of two columns, a number that differs and one that all have. */
const source: ColumnSource = {
  rows: 3,
  dead: null,
  codes: (column, _block, into) => {
    into.set(column === 0 ? [LAST, 0, LAST] : [LAST, LAST, LAST])
    return into
  },
  dictionary: (column) => dictionaries[column] ?? [],
  numbers: (column, _block, into) => {
    into.set(column === 2 ? [1, 20, 300] : [7, 7, 7])
    return into
  },
  constant: (column) => (column === 3 ? 7 : null),
  nulls: () => null,
}

it('sums by two columns whose values have more combinations than 32 bits hold, a constant number included', () => {
  const groupBy = [0, 1].map((column) => ({ column, as: null }))
  const totals = createTotals({ tests: [], groupBy, fields: [2, 3], newest: 2, addedAt: null })
  totals.add(source, [])
  expect(totals.groups()).toEqual([
    { key: [`a${LAST}`, `b${LAST}`], count: 2, sums: [301, 14], newest: 300 },
    { key: ['a0', `b${LAST}`], count: 1, sums: [20, 7], newest: 20 },
  ])
})
