import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { type BlockSelection, createScratch, createSelector, type Scratch } from './block-selection.ts'
import { BLOCK_ROWS, type ColumnSource } from './column-source.ts'
import { addRows, type BufferedColumn, putRows, type RowBuffer, rowAt } from './row-buffer.ts'

/** Rows that are copied before other work of the thread runs. */
const ROWS_AT_ONCE = 1_000

type Buffered<Kind> = Extract<BufferedColumn, { kind: Kind }>

/** Copies the selected rows of a block of codes to the rows from `begin` on. `places`: the buffer's code by the source's, 0 where unknown. */
function copyCodes(
  { chunks, codes, dictionary }: Buffered<'code'>,
  begin: number,
  source: ColumnSource,
  [column, block]: readonly [number, number],
  { rows, count, isWhole }: BlockSelection,
  scratch: Scratch,
): void {
  const from = source.codes(column, block, scratch.codes)
  const places = source.dictionary(column).map((value) => {
    const known = codes.get(value)
    if (known !== undefined) return known
    codes.set(value, dictionary.length)
    return dictionary.push(value) - 1
  })
  for (let i = 0; i < count; i++) {
    const chunk = chunks[Math.floor((begin + i) / BLOCK_ROWS)]
    if (chunk) chunk[(begin + i) % BLOCK_ROWS] = places[from[isWhole ? i : (rows[i] ?? 0)] ?? 0] ?? 0
  }
}

function copyNumbers(
  { chunks, nulls }: Buffered<'number'>,
  begin: number,
  source: ColumnSource,
  [column, block]: readonly [number, number],
  { rows, count, isWhole }: BlockSelection,
  scratch: Scratch,
): void {
  const from = source.numbers(column, block, scratch.numbers)
  const flags = source.nulls(column, block)
  for (let i = 0; i < count; i++) {
    const row = isWhole ? i : (rows[i] ?? 0)
    const [chunk, at] = [Math.floor((begin + i) / BLOCK_ROWS), (begin + i) % BLOCK_ROWS]
    const values = chunks[chunk]
    if (values) values[at] = from[row] ?? 0
    if (flags?.[row] !== 1) continue
    const own = nulls[chunk] ?? new Uint8Array(BLOCK_ROWS)
    own[at] = 1
    nulls[chunk] = own
  }
}

/** Appends the rows of a source that are not dead. `keys`: those of its rows. Other work of the thread runs between blocks. */
export async function appendRows(buffer: RowBuffer, source: ColumnSource, keys: ArrayLike<number>, base: number) {
  const scratch = createScratch()
  const select = createSelector(source, [], scratch)
  for (let block = 0; block * BLOCK_ROWS < source.rows; block++) {
    const selection = select(block)
    const begin = buffer.rows
    addRows(buffer, selection.count)
    for (let i = 0; i < selection.count; i++) {
      const row = begin + i
      const from = block * BLOCK_ROWS + (selection.isWhole ? i : (selection.rows[i] ?? 0))
      const own = buffer.keys[Math.floor(row / BLOCK_ROWS)]
      if (own) own[row % BLOCK_ROWS] = (keys[from] ?? 0) + base
    }
    for (const [index, column] of buffer.columns.entries()) {
      if (column.kind === 'code') copyCodes(column, begin, source, [index, block], selection, scratch)
      else copyNumbers(column, begin, source, [index, block], selection, scratch)
    }
    await yieldToEventLoop()
  }
}

/** Appends some rows of another buffer. Other work of the thread runs in between. */
export async function appendSome(buffer: RowBuffer, from: RowBuffer, rows: readonly number[]): Promise<void> {
  for (let index = 0; index < rows.length; index += ROWS_AT_ONCE) {
    const some = rows.slice(index, index + ROWS_AT_ONCE).map((row) => rowAt(from, row))
    putRows(buffer, addRows(buffer, some.length), some)
    await yieldToEventLoop()
  }
}
