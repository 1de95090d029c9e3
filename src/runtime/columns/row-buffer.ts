import type { Scalar } from '../../ports/read-store.ts'
import { BLOCK_ROWS, type ColumnSource } from './column-source.ts'
import type { DerivedColumn, Layout } from './column-spec.ts'
import { KEY_AT, type ReadRow, VALUES_AT } from './read-rows.ts'

interface BufferedNumbers {
  readonly kind: 'number'
  readonly chunks: Float64Array[]
  /** 1 for each null; null for a chunk without one. */
  readonly nulls: (Uint8Array | null)[]
}

interface BufferedCodes {
  readonly kind: 'code'
  readonly chunks: Int32Array[]
  readonly codes: Map<Scalar, number>
  readonly dictionary: Scalar[]
}

export type BufferedColumn = BufferedNumbers | BufferedCodes

/** Rows in memory that grow by chunks: nothing is copied as they become more. */
export interface RowBuffer {
  readonly layout: Layout
  rows: number
  readonly keys: Float64Array[]
  readonly columns: readonly BufferedColumn[]
  /** Bytes of its arrays and, about, of its dictionaries. */
  bytes: number
}

const FIRST_ROWS = 64
/** About what an entry of a dictionary takes. */
const ENTRY_BYTES = 120

/** Creates a buffer without rows. */
export function createRowBuffer(layout: Layout): RowBuffer {
  const columns = layout.kinds.map(
    (kind): BufferedColumn =>
      kind === 'number'
        ? { kind, chunks: [], nulls: [] }
        : { kind, chunks: [], codes: new Map([[null, 0]]), dictionary: [null] },
  )
  return { layout, rows: 0, keys: [], columns, bytes: 0 }
}

/** Rows of a chunk: the first one is small at first, since most workspaces have few rows. */
function chunkRows(chunk: number, needed: number, current: number): number {
  if (chunk > 0) return BLOCK_ROWS
  return Math.min(BLOCK_ROWS, Math.max(FIRST_ROWS, needed, 2 * current))
}

function grown<A extends Float64Array | Int32Array>(old: A | undefined, fresh: A): A {
  if (old) fresh.set(old)
  return fresh
}

/** Adds empty rows, and returns the first of them. */
export function addRows(buffer: RowBuffer, count: number): number {
  const row = buffer.rows
  for (let needed = row; needed < row + count; ) {
    const chunk = Math.floor(needed / BLOCK_ROWS)
    const inChunk = Math.min(BLOCK_ROWS, row + count - chunk * BLOCK_ROWS)
    const current = buffer.keys[chunk]?.length ?? 0
    needed = chunk * BLOCK_ROWS + inChunk
    if (inChunk <= current) continue
    const size = chunkRows(chunk, inChunk, current)
    buffer.keys[chunk] = grown(buffer.keys[chunk], new Float64Array(size))
    buffer.bytes += 8 * (size - current)
    for (const column of buffer.columns) {
      if (column.kind === 'code') column.chunks[chunk] = grown(column.chunks[chunk], new Int32Array(size))
      else column.chunks[chunk] = grown(column.chunks[chunk], new Float64Array(size))
      buffer.bytes += (column.kind === 'code' ? 4 : 8) * (size - current)
    }
  }
  buffer.rows += count
  return row
}

/** Key of a row. */
export function keyAt({ keys }: RowBuffer, row: number): number {
  return keys[Math.floor(row / BLOCK_ROWS)]?.[row % BLOCK_ROWS] ?? 0
}

/** The number of a row, 0 for null. */
export function numberAt({ columns }: RowBuffer, index: number, row: number): number {
  const column = columns[index]
  return (column?.kind === 'number' && column.chunks[Math.floor(row / BLOCK_ROWS)]?.[row % BLOCK_ROWS]) || 0
}

/** Whether a value can be a key. */
export function isKey(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Rows of a page that go to consecutive places of one chunk: row `begin + i` to the place `at + i`. */
interface Stretch {
  readonly page: readonly ReadRow[]
  readonly begin: number
  readonly count: number
  readonly chunk: number
  readonly at: number
}

/**
 * Stores rows that were read (`page[begin..end)`) at consecutive places from `row` on, column by column. False when one of them
 * does not fit: it has no key, no instant, or a value of another kind than its column.
 */
export function putRows(
  buffer: RowBuffer,
  row: number,
  page: readonly ReadRow[],
  begin = 0,
  end: number = page.length,
): boolean {
  let fits = true
  for (let done = begin; done < end; ) {
    const place = row + done - begin
    const [chunk, at] = [Math.floor(place / BLOCK_ROWS), place % BLOCK_ROWS]
    const count = Math.min(end - done, BLOCK_ROWS - at)
    fits = putStretch(buffer, { page, begin: done, count, chunk, at }) && fits
    done += count
  }
  return fits
}

function putStretch(buffer: RowBuffer, stretch: Stretch): boolean {
  const { page, begin, count, chunk, at } = stretch
  const { layout, columns } = buffer
  const keys = buffer.keys[chunk]
  if (!keys) return false
  let fits = true
  for (let i = 0; i < count; i++) {
    const row = page[begin + i]
    const key = row?.[KEY_AT]
    if (!isKey(key) || typeof row?.[VALUES_AT + layout.time] !== 'number') fits = false
    else keys[at + i] = key
  }
  for (let index = 0; index < layout.read.length; index++) {
    const column = columns[index]
    if (column?.kind === 'code') fits = putCodes(buffer, column, VALUES_AT + index, stretch) && fits
    else if (column) fits = putNumbers(buffer, column, VALUES_AT + index, stretch) && fits
  }
  for (const derived of layout.derived) putDerived(buffer, derived, stretch)
  return fits
}

function putDerived(buffer: RowBuffer, derived: DerivedColumn, { chunk, at, count }: Stretch): void {
  const { columns } = buffer
  const column = columns[derived.column]
  const chunkOf = (index: number) => columns[index]?.chunks[chunk]
  if ('units' in derived) {
    if (column?.kind === 'code') putUnits(buffer, column, derived.size, chunkOf(derived.units), { chunk, at, count })
    return
  }
  const into = column?.chunks[chunk]
  if (!into) return
  if ('plus' in derived) {
    const [plus, minus] = [chunkOf(derived.plus), chunkOf(derived.minus)]
    for (let place = at; place < at + count; place++) into[place] = (plus?.[place] ?? 0) - (minus?.[place] ?? 0)
    return
  }
  if ('product' in derived) {
    const [one, other] = derived.product.map(chunkOf)
    for (let place = at; place < at + count; place++) into[place] = (one?.[place] ?? 0) * (other?.[place] ?? 0)
    return
  }
  const source = columns[derived.of]
  if (source?.kind !== 'code') return
  const codes = source.chunks[chunk]
  const factors = chunkOf(derived.times)
  const numbers = source.dictionary.map((value) => derived.numbers.get(value) ?? 0)
  for (let place = at; place < at + count; place++) into[place] = numbers[codes?.[place] ?? 0] ?? 0
  if (factors)
    for (let place = at; place < at + count; place++) into[place] = (into[place] ?? 0) * (factors[place] ?? 0)
}

/** Codes of numbers in whole units. */
function putUnits(
  buffer: RowBuffer,
  { chunks, codes, dictionary }: BufferedCodes,
  size: number,
  numbers: ArrayLike<number> | undefined,
  { chunk, at, count }: Pick<Stretch, 'chunk' | 'at' | 'count'>,
): void {
  const into = chunks[chunk]
  if (!into || !numbers) return
  let last = Number.NaN
  let code = 0
  for (let place = at; place < at + count; place++) {
    const units = Math.floor((numbers[place] ?? 0) / size)
    if (units !== last) {
      last = units
      code = codes.get(units) ?? -1
      if (code < 0) {
        code = dictionary.push(units) - 1
        codes.set(units, code)
        buffer.bytes += ENTRY_BYTES
      }
    }
    into[place] = code
  }
}

function putNumbers(
  buffer: RowBuffer,
  { chunks, nulls }: BufferedNumbers,
  from: number,
  { page, begin, count, chunk, at }: Stretch,
): boolean {
  const values = chunks[chunk]
  if (!values) return false
  let fits = true
  let flags = nulls[chunk]
  for (let i = 0; i < count; i++) {
    const value = page[begin + i]?.[from]
    if (typeof value === 'number') {
      values[at + i] = value
      if (flags) flags[at + i] = 0
      continue
    }
    if (!flags) {
      flags = new Uint8Array(BLOCK_ROWS)
      nulls[chunk] = flags
      buffer.bytes += BLOCK_ROWS
    }
    values[at + i] = 0
    flags[at + i] = 1
    if (value !== null) fits = false
  }
  return fits
}

function putCodes(
  buffer: RowBuffer,
  { chunks, codes, dictionary }: BufferedCodes,
  from: number,
  { page, begin, count, chunk, at }: Stretch,
): boolean {
  const values = chunks[chunk]
  if (!values) return false
  // Neighbours often have the same value: to compare them takes less than to look one up.
  let last: Scalar = null
  let code = 0
  for (let i = 0; i < count; i++) {
    const value = page[begin + i]?.[from]
    if (value === undefined) return false
    if (value !== last) {
      last = value
      code = codes.get(value) ?? -1
      if (code < 0) {
        code = dictionary.push(value) - 1
        codes.set(value, code)
        buffer.bytes += ENTRY_BYTES
      }
    }
    values[at + i] = code
  }
  return true
}

/** A row as `putRows` takes it. */
export function rowAt(buffer: RowBuffer, row: number): ReadRow {
  const chunk = Math.floor(row / BLOCK_ROWS)
  const at = row % BLOCK_ROWS
  const values = buffer.columns.map((column) => {
    if (column.kind === 'code') return column.dictionary[column.chunks[chunk]?.[at] ?? 0] ?? null
    return column.nulls[chunk]?.[at] === 1 ? null : (column.chunks[chunk]?.[at] ?? null)
  })
  return [keyAt(buffer, row), ...values]
}

const NO_NUMBERS = new Float64Array()
const NO_CODES = new Int32Array()

/** The rows as a source of columns. */
export function bufferSource({ rows, columns }: RowBuffer, dead: Uint32Array | null): ColumnSource {
  const column = (index: number) => columns[index]
  return {
    rows,
    dead,
    numbers(index, block) {
      const found = column(index)
      return (found?.kind === 'number' && found.chunks[block]) || NO_NUMBERS
    },
    nulls(index, block) {
      const found = column(index)
      return (found?.kind === 'number' && found.nulls[block]) || null
    },
    codes(index, block) {
      const found = column(index)
      return (found?.kind === 'code' && found.chunks[block]) || NO_CODES
    },
    dictionary(index) {
      const found = column(index)
      return found?.kind === 'code' ? found.dictionary : []
    },
  }
}
