import type { Scalar } from '../../ports/read-store.ts'
import { BLOCK_ROWS, type ColumnSource, rowsOfBlock } from './column-source.ts'
import type { Range } from './column-terms.ts'
import { type ColumnTest, isInside, isOutside } from './question.ts'

/** The rows of a block that pass: `rows[0..count)`, counted from the beginning of the block. All of them: `rows` says nothing. */
export interface BlockSelection {
  readonly rows: Uint32Array
  count: number
  isWhole: boolean
}

/** Columns that are added in one pass over a block: one after the other would read the cell of each row once for each. */
export const ADDED_AT_ONCE = 4

/** Memory that is used for block after block. */
export interface Scratch {
  readonly selection: BlockSelection
  readonly numbers: Float64Array
  readonly codes: Int32Array
  readonly moreCodes: Int32Array
  readonly cells: Int32Array
  /** Numbers of the columns that are added at once. */
  readonly addends: readonly Float64Array[]
}

export function createScratch(): Scratch {
  return {
    selection: { rows: new Uint32Array(BLOCK_ROWS), count: 0, isWhole: true },
    numbers: new Float64Array(BLOCK_ROWS),
    codes: new Int32Array(BLOCK_ROWS),
    moreCodes: new Int32Array(BLOCK_ROWS),
    cells: new Int32Array(BLOCK_ROWS),
    addends: Array.from({ length: ADDED_AT_ONCE }, () => new Float64Array(BLOCK_ROWS)),
  }
}

/** A test, made ready for a source: for codes, whether each value of the dictionary passes. */
interface ReadyTest extends ColumnTest {
  readonly passing: Uint8Array | null
}

/** Makes the selection of each block of a source, for blocks in ascending order. */
export function createSelector(source: ColumnSource, tests: readonly ColumnTest[], scratch: Scratch) {
  const ready = tests.map((test): ReadyTest => {
    const dictionary = source.dictionary(test.column)
    const isCode = dictionary.length > 0
    return { ...test, passing: isCode ? Uint8Array.from(dictionary, (value) => (test.passes(value) ? 1 : 0)) : null }
  })
  const { selection } = scratch
  let dead = 0
  return (block: number): BlockSelection => {
    selection.count = rowsOfBlock(source, block)
    selection.isWhole = true
    dead = leaveOutDead(source, block, dead, selection)
    for (const test of ready) {
      if (selection.count === 0) break
      if (test.passing) keepCodes(source.codes(test.column, block, scratch.codes), test.passing, selection)
      else keepNumbers(source, test, block, scratch)
    }
    return selection
  }
}

/** Leaves out a block's dead rows, which begin at `from` in the list of all. Returns where those of the next block begin. */
function leaveOutDead({ dead }: ColumnSource, block: number, from: number, selection: BlockSelection): number {
  const begin = block * BLOCK_ROWS
  const rows = selection.count
  if (!dead || (dead[from] ?? Number.POSITIVE_INFINITY) >= begin + rows) return from
  let next = from
  let kept = 0
  for (let row = 0; row < rows; row++) {
    if (dead[next] === begin + row) next += 1
    else selection.rows[kept++] = row
  }
  selection.count = kept
  selection.isWhole = false
  return next
}

// Each loop writes the index of every row, and advances the write position only for rows that pass: there is no branch
// to mispredict. `?? 0` only satisfies the type checker: every index is within its array, and V8 removes the check.
function keepCodes(codes: Int32Array, passing: Uint8Array, selection: BlockSelection): void {
  const { rows, count, isWhole } = selection
  let found = 0
  if (isWhole) {
    for (let row = 0; row < count; row++) {
      rows[found] = row
      found += passing[codes[row] ?? 0] ?? 0
    }
  } else {
    for (let i = 0; i < count; i++) {
      const row = rows[i] ?? 0
      rows[found] = row
      found += passing[codes[row] ?? 0] ?? 0
    }
  }
  selection.count = found
  selection.isWhole = false
}

function keepNumbers(
  source: ColumnSource,
  { column, range, passes }: ReadyTest,
  block: number,
  scratch: Scratch,
): void {
  const { selection } = scratch
  const nulls = source.nulls(column, block)
  // Rows stand in the order of their keys, so most blocks have instants that are near each other.
  const bounds = range && (source.bounds?.(column, block) ?? null)
  if (range && bounds && isOutside(range, bounds)) {
    selection.count = 0
    return
  }
  if (range && bounds && isInside(range, bounds)) {
    if (nulls) keepUnflagged(nulls, selection)
    return
  }
  const values = source.numbers(column, block, scratch.numbers)
  if (range) keepRange(values, range, selection)
  else keepEach(values, nulls, passes, selection)
  if (range && nulls) keepUnflagged(nulls, selection)
}

function keepRange(values: Float64Array, range: Range, selection: BlockSelection): void {
  const { from, fromItself, to, toItself } = range
  const { rows, count, isWhole } = selection
  let found = 0
  if (isWhole) {
    for (let row = 0; row < count; row++) {
      const value = values[row] ?? 0
      rows[found] = row
      found += (fromItself ? value >= from : value > from) && (toItself ? value <= to : value < to) ? 1 : 0
    }
  } else {
    for (let i = 0; i < count; i++) {
      const row = rows[i] ?? 0
      const value = values[row] ?? 0
      rows[found] = row
      found += (fromItself ? value >= from : value > from) && (toItself ? value <= to : value < to) ? 1 : 0
    }
  }
  selection.isWhole = isWhole && found === count
  selection.count = found
}

function keepUnflagged(flags: Uint8Array, selection: BlockSelection): void {
  const { rows, count, isWhole } = selection
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = isWhole ? i : (rows[i] ?? 0)
    rows[found] = row
    found += flags[row] === 1 ? 0 : 1
  }
  selection.count = found
  selection.isWhole = false
}

function keepEach(
  values: Float64Array,
  nulls: Uint8Array | null,
  passes: (value: Scalar) => boolean,
  selection: BlockSelection,
): void {
  const { rows, count, isWhole } = selection
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = isWhole ? i : (rows[i] ?? 0)
    const value = nulls?.[row] === 1 ? null : (values[row] ?? 0)
    rows[found] = row
    found += passes(value) ? 1 : 0
  }
  selection.count = found
  selection.isWhole = false
}
