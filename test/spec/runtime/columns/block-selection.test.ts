import { describe, expect, it } from 'vitest'
import { createScratch, createSelector } from '../../../../src/runtime/columns/block-selection.ts'
import { BLOCK_ROWS, type ColumnSource } from '../../../../src/runtime/columns/column-source.ts'
import { rangeOf, termsOf, testOf } from '../../../../src/runtime/columns/column-terms.ts'

const ROWS = 3 * BLOCK_ROWS
/** Each row's number is its place; every hundredth is null. */
const isNull = (row: number) => row % 100 === 0

/** A source of one column, and the blocks of which it was asked for numbers. */
function sourceOf(withBounds: boolean, withNulls: boolean) {
  const decoded: number[] = []
  const valueAt = (row: number) => (withNulls && isNull(row) ? 0 : row)
  const blockOf = <Value>(block: number, at: (row: number) => Value) =>
    Array.from({ length: BLOCK_ROWS }, (_, n) => at(block * BLOCK_ROWS + n))
  const source: ColumnSource = {
    rows: ROWS,
    dead: null,
    numbers(_column, block, into) {
      decoded.push(block)
      into.set(blockOf(block, valueAt))
      return into
    },
    ...(withBounds && {
      bounds: (_column: number, block: number) => {
        const values = blockOf(block, valueAt)
        return { min: Math.min(...values), max: Math.max(...values) }
      },
    }),
    nulls: (_column, block) => (withNulls ? Uint8Array.from(blockOf(block, (row) => (isNull(row) ? 1 : 0))) : null),
    codes: (_column, _block, into) => into,
    dictionary: () => [],
  }
  return { source, decoded }
}

interface Window {
  readonly $gte: number
  readonly $lt: number
}

/** The rows that pass a condition, by their places. */
function selected(condition: Window, withBounds: boolean, withNulls: boolean) {
  const { source, decoded } = sourceOf(withBounds, withNulls)
  const terms = termsOf({ at: { ...condition } }) ?? []
  const select = createSelector(source, [{ column: 0, range: rangeOf(terms), passes: testOf(terms) }], createScratch())
  const found: number[] = []
  for (let block = 0; block < 3; block++) {
    const { rows, count, isWhole } = select(block)
    for (let n = 0; n < count; n++) found.push(block * BLOCK_ROWS + (isWhole ? n : (rows[n] ?? -1)))
  }
  return { found, decoded }
}
const passes = (value: number, { $gte, $lt }: Window) => value >= $gte && value < $lt

describe('a range over blocks with bounds', () => {
  const first = BLOCK_ROWS
  it.each([
    ['within one block', { $gte: first + 10, $lt: first + 20 }, [1]],
    ['of one block exactly', { $gte: first, $lt: 2 * first }, []],
    ['over a block and parts of its neighbours', { $gte: first - 1, $lt: 2 * first + 1 }, [0, 2]],
    ['of everything', { $gte: 0, $lt: ROWS }, []],
    ['of nothing', { $gte: ROWS, $lt: ROWS + 1 }, []],
  ])('%s decodes only the blocks that it cuts', (_name, condition, blocks) => {
    const { found, decoded } = selected(condition, true, false)
    expect(decoded).toEqual(blocks)
    expect(found).toEqual(Array.from({ length: ROWS }, (_, row) => row).filter((row) => passes(row, condition)))
    expect(found).toEqual(selected(condition, false, false).found)
  })

  it('leaves nulls out of blocks that it holds', () => {
    const condition = { $gte: 0, $lt: ROWS }
    const { found, decoded } = selected(condition, true, true)
    expect(decoded).toEqual([])
    expect(found).toEqual(Array.from({ length: ROWS }, (_, row) => row).filter((row) => !isNull(row)))
    expect(found).toEqual(selected(condition, false, true).found)
  })
})
