import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { Scalar } from '../../ports/read-store.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'
import { BLOCK_ROWS } from './column-source.ts'
import { type BufferedColumn, keyAt, type RowBuffer } from './row-buffer.ts'
import { type CodeHeader, encodeHeader, type NumberHeader, type Section, type SegmentHeader } from './segment-header.ts'

const BLOCK_BITS = Math.log2(BLOCK_ROWS)

/** A segment's file. */
export interface EncodedSegment {
  readonly header: SegmentHeader
  readonly parts: readonly Uint8Array[]
  /** Checksum of the header, and by it of all: equal files have equal ones. */
  readonly checksum: number
}

/** Whether each row stands in this order to the row before it. */
function isSorted(buffer: RowBuffer, follows: (before: number, key: number) => boolean): boolean {
  for (let row = 1; row < buffer.rows; row++) if (!follows(keyAt(buffer, row - 1), keyAt(buffer, row))) return false
  return true
}

/** The rows in the order of their keys. Of several rows with one key, the last one counts. */
export function orderByKey(buffer: RowBuffer): Uint32Array {
  const last = buffer.rows - 1
  if (isSorted(buffer, (before, key) => before < key)) return Uint32Array.from({ length: buffer.rows }, (_, row) => row)
  if (isSorted(buffer, (before, key) => before > key))
    return Uint32Array.from({ length: buffer.rows }, (_, row) => last - row)
  const rows = Array.from({ length: buffer.rows }, (_, row) => row)
  // Rows mostly come in order, forwards or backwards: such runs sort in one pass.
  rows.sort((one, other) => keyAt(buffer, one) - keyAt(buffer, other) || one - other)
  return Uint32Array.from(
    rows.filter((row, index) => {
      const next = rows[index + 1]
      return next === undefined || keyAt(buffer, next) !== keyAt(buffer, row)
    }),
  )
}

/** Collects the sections of a file. */
function createSections() {
  const parts: Uint8Array[] = []
  let at = 0
  return {
    parts,
    add(array: Uint8Array | Uint16Array | Uint32Array | Float64Array): Section {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
      const section = { at, bytes: bytes.length, checksum: checksumOf(bytes) }
      parts.push(bytes)
      at += bytes.length
      return section
    },
  }
}

type Sections = ReturnType<typeof createSections>

function arrayFor(type: NumberHeader['type'], rows: number) {
  if (type === 'u8') return new Uint8Array(rows)
  if (type === 'u16') return new Uint16Array(rows)
  return type === 'u32' ? new Uint32Array(rows) : new Float64Array(rows)
}

/** The narrowest type for integers from 0 to `most`; null when there is none. */
function integerType(most: number): CodeHeader['type'] | null {
  if (most < 2 ** 8) return 'u8'
  if (most < 2 ** 16) return 'u16'
  return most < 2 ** 32 ? 'u32' : null
}

/** Encodes numbers by row. */
function encodeNumbers(values: Float64Array, nulls: Uint8Array | null, sections: Sections): NumberHeader {
  let [min, max, sum, isInteger] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, true]
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? 0
    if (value < min) min = value
    if (value > max) max = value
    if (value !== Math.trunc(value)) isInteger = false
    sum += value
  }
  const narrow = isInteger && Number.isSafeInteger(min) && Number.isSafeInteger(max) ? integerType(max - min) : null
  const base = narrow === null ? 0 : min
  const array = arrayFor(narrow ?? 'f64', values.length)
  if (base === 0) array.set(values)
  else for (let row = 0; row < values.length; row++) array[row] = (values[row] ?? 0) - base
  return {
    kind: 'number',
    type: narrow ?? 'f64',
    base,
    min,
    max,
    sum,
    values: sections.add(array),
    nulls: nulls && sections.add(nulls),
  }
}

/** Encodes codes by row. The dictionary keeps only what occurs. */
function encodeCodes(codes: Int32Array, dictionary: readonly Scalar[], sections: Sections): CodeHeader {
  const places = new Int32Array(dictionary.length).fill(-1)
  const occurring: Scalar[] = []
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] ?? 0
    let place = places[code] ?? -1
    if (place < 0) {
      place = occurring.push(dictionary[code] ?? null) - 1
      places[code] = place
    }
    codes[row] = place
  }
  const type = integerType(occurring.length - 1) ?? 'u32'
  const array = arrayFor(type, codes.length)
  array.set(codes)
  return { kind: 'code', type, values: sections.add(array), dictionary: occurring }
}

/** Whether rows in an order are consecutive, backwards: so they are where the newest were read first. */
function isBackwards(order: Uint32Array): boolean {
  const first = order[0] ?? 0
  for (let index = 1; index < order.length; index++) if (order[index] !== first - index) return false
  return true
}

/** Copies the values of rows in an order to a new array. Chunks that are missing hold zeros. */
type Copy = <A extends Float64Array | Int32Array | Uint8Array>(
  chunks: readonly (A | null | undefined)[],
  order: Uint32Array,
  into: A,
) => A

const copyBackwards: Copy = (chunks, order, into) => {
  const first = order.at(-1) ?? 0
  for (let done = 0; done < order.length; ) {
    const at = (first + done) & (BLOCK_ROWS - 1)
    const count = Math.min(order.length - done, BLOCK_ROWS - at)
    const chunk = chunks[(first + done) >>> BLOCK_BITS]
    if (chunk) into.set(chunk.subarray(at, at + count), done)
    done += count
  }
  into.reverse()
  return into
}

const copyInOrder: Copy = (chunks, order, into) => {
  for (let index = 0; index < order.length; index++) {
    const row = order[index] ?? 0
    into[index] = chunks[row >>> BLOCK_BITS]?.[row & (BLOCK_ROWS - 1)] ?? 0
  }
  return into
}

function encodeColumn(
  column: BufferedColumn,
  order: Uint32Array,
  copy: Copy,
  sections: Sections,
): NumberHeader | CodeHeader {
  if (column.kind === 'code')
    return encodeCodes(copy(column.chunks, order, new Int32Array(order.length)), column.dictionary, sections)
  const values = copy(column.chunks, order, new Float64Array(order.length))
  const nulls = column.nulls.some((flags) => flags) ? copy(column.nulls, order, new Uint8Array(order.length)) : null
  return encodeNumbers(values, nulls?.includes(1) ? nulls : null, sections)
}

/**
 * Encodes rows of one month, in the order given, which is that of their keys. `net` names the segment with what they come to.
 * Other work of the thread runs between columns.
 */
export async function encodeSegment(
  month: number,
  buffer: RowBuffer,
  order: Uint32Array,
  net: string | null = null,
): Promise<EncodedSegment> {
  const sections = createSections()
  const copy = isBackwards(order) ? copyBackwards : copyInOrder
  const keys = encodeNumbers(copy(buffer.keys, order, new Float64Array(order.length)), null, sections)
  const columns: SegmentHeader['columns'][number][] = []
  for (const column of buffer.columns) {
    await yieldToEventLoop()
    columns.push(encodeColumn(column, order, copy, sections))
  }
  const header = { month, rows: order.length, keys, columns, ...(net !== null && { net }) }
  const encoded = encodeHeader(header)
  return { header, parts: [encoded, ...sections.parts], checksum: checksumOf(encoded) }
}
