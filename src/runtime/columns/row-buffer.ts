import type { Scalar } from '../../ports/read-store.ts'
import { BLOCK_ROWS, type ColumnSource } from './column-source.ts'
import type { Layout } from './column-spec.ts'

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

/** Adds an empty row, and returns it. */
export function addRow(buffer: RowBuffer): number {
  const row = buffer.rows
  const chunk = Math.floor(row / BLOCK_ROWS)
  const current = buffer.keys[chunk]?.length ?? 0
  if (row % BLOCK_ROWS >= current) {
    const size = chunkRows(chunk, (row % BLOCK_ROWS) + 1, current)
    buffer.keys[chunk] = grown(buffer.keys[chunk], new Float64Array(size))
    buffer.bytes += 8 * (size - current)
    for (const column of buffer.columns) {
      if (column.kind === 'code') column.chunks[chunk] = grown(column.chunks[chunk], new Int32Array(size))
      else column.chunks[chunk] = grown(column.chunks[chunk], new Float64Array(size))
      buffer.bytes += (column.kind === 'code' ? 4 : 8) * (size - current)
    }
  }
  buffer.rows += 1
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

/** Stores a document's key and its values (from `from` on, in the order of the columns). False when one of them does not fit its column. */
export function putRow(
  buffer: RowBuffer,
  row: number,
  key: number,
  values: readonly (Scalar | undefined)[],
  from: number,
): boolean {
  const chunk = Math.floor(row / BLOCK_ROWS)
  const at = row % BLOCK_ROWS
  const keys = buffer.keys[chunk]
  if (keys) keys[at] = key
  const { columns } = buffer
  let fits = true
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as BufferedColumn
    const value = values[from + index]
    if (column.kind === 'code') fits = putCode(buffer, column, chunk, at, value) && fits
    else fits = putNumber(buffer, column, chunk, at, value) && fits
  }
  return fits && typeof values[from + buffer.layout.time] === 'number'
}

function putNumber(
  buffer: RowBuffer,
  { chunks, nulls }: BufferedNumbers,
  chunk: number,
  at: number,
  value: Scalar | undefined,
): boolean {
  const values = chunks[chunk]
  if (!values) return false
  if (typeof value === 'number') {
    values[at] = value
    const flags = nulls[chunk]
    if (flags) flags[at] = 0
    return true
  }
  values[at] = 0
  let flags = nulls[chunk]
  if (!flags) {
    flags = new Uint8Array(BLOCK_ROWS)
    nulls[chunk] = flags
    buffer.bytes += BLOCK_ROWS
  }
  flags[at] = 1
  return value === null
}

function putCode(
  buffer: RowBuffer,
  { chunks, codes, dictionary }: BufferedCodes,
  chunk: number,
  at: number,
  value: Scalar | undefined,
): boolean {
  const values = chunks[chunk]
  if (!values || value === undefined) return false
  let code = codes.get(value)
  if (code === undefined) {
    code = dictionary.push(value) - 1
    codes.set(value, code)
    buffer.bytes += ENTRY_BYTES
  }
  values[at] = code
  return true
}

/** Copies the values of a row as `putRow` takes them. */
export function valuesAt({ columns }: RowBuffer, row: number): Scalar[] {
  const chunk = Math.floor(row / BLOCK_ROWS)
  const at = row % BLOCK_ROWS
  return columns.map((column) => {
    if (column.kind === 'code') return column.dictionary[column.chunks[chunk]?.[at] ?? 0] ?? null
    return column.nulls[chunk]?.[at] === 1 ? null : (column.chunks[chunk]?.[at] ?? null)
  })
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
