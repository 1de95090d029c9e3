import type { Scalar } from '../../ports/read-store.ts'
import { checksumOf } from '../write/snapshots/checksum.ts'

/** Raised when files change in a way that the layout's text does not tell. */
export const FORMAT = 1

/** Where a part of a segment stands, counted from the end of the header. */
export interface Section {
  readonly at: number
  readonly bytes: number
  readonly checksum: number
}

type CodeType = 'u8' | 'u16' | 'u32'

export interface NumberHeader {
  readonly kind: 'number'
  /** Integers are stored as their distance from `base`. */
  readonly type: CodeType | 'f64'
  readonly base: number
  /** Of all rows, where null counts as 0. */
  readonly min: number
  readonly max: number
  readonly sum: number
  readonly values: Section
  /** One byte for each row, 1 for null; null when there are none. */
  readonly nulls: Section | null
}

export interface CodeHeader {
  readonly kind: 'code'
  readonly type: CodeType
  readonly values: Section
  readonly dictionary: readonly Scalar[]
}

/** The header of a segment: rows in the order of their keys. */
export interface SegmentHeader {
  readonly month: number
  readonly rows: number
  readonly keys: NumberHeader
  readonly columns: readonly (NumberHeader | CodeHeader)[]
  /** Name of the segment with what its rows come to; left out where there is none. */
  readonly net?: string | undefined
}

/** The number that all rows have in a column, where null counts as 0; null where they differ. */
export function constantOf({ columns }: SegmentHeader, index: number): number | null {
  const column = columns[index]
  // A product may be -0, until the header has been written and read.
  return column?.kind === 'number' && column.min === column.max ? column.min + 0 : null
}

/** `RLCS`, format, bytes of the header, its checksum: 4 bytes each. */
const PREFIX_BYTES = 16
const MAGIC = 0x53_43_4c_52
/** Read at first: most headers are shorter. */
export const HEADER_GUESS = 32 * 1024

/** The header's bytes, with what stands before it. */
export function encodeHeader(segment: SegmentHeader): Uint8Array {
  const text = Buffer.from(JSON.stringify(segment))
  const bytes = Buffer.alloc(PREFIX_BYTES + text.length)
  const checksum = checksumOf(text)
  for (const [index, value] of [MAGIC, FORMAT, text.length, checksum].entries()) bytes.writeUInt32LE(value, 4 * index)
  bytes.set(text, PREFIX_BYTES)
  return bytes
}

/**
 * Reads a header from the beginning of a file. Returns it with its length; a number for the length that is needed to read it;
 * null for what is not a segment of this format, or damaged.
 */
export function decodeHeader(
  bytes: Uint8Array,
): { readonly header: SegmentHeader; readonly bytes: number } | number | null {
  if (bytes.length < PREFIX_BYTES) return null
  const prefix = new DataView(bytes.buffer, bytes.byteOffset, PREFIX_BYTES)
  if (prefix.getUint32(0, true) !== MAGIC || prefix.getUint32(4, true) !== FORMAT) return null
  const end = PREFIX_BYTES + prefix.getUint32(8, true)
  if (bytes.length < end) return end
  const text = bytes.subarray(PREFIX_BYTES, end)
  if (checksumOf(text) !== prefix.getUint32(12, true)) return null
  // Format and checksum say that `encodeHeader` wrote it; a schema of all its values would take longer than all else.
  return { header: JSON.parse(Buffer.from(text).toString()), bytes: end }
}
