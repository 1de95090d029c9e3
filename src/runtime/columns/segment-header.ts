import { z } from 'zod'
import { checksumOf } from '../write/snapshots/checksum.ts'

/** Raised when files change in a way that the layout's text does not tell. */
export const FORMAT = 1

/** Where a part of a segment stands, counted from the end of the header. */
const section = z.object({ at: z.int().min(0), bytes: z.int().min(0), checksum: z.int() })
export type Section = Readonly<z.infer<typeof section>>

const codeTypes = z.enum(['u8', 'u16', 'u32'])
const numbers = z.object({
  kind: z.literal('number'),
  /** Integers are stored as their distance from `base`. */
  type: z.enum(['u8', 'u16', 'u32', 'f64']),
  base: z.number(),
  /** Of all rows, where null counts as 0. */
  min: z.number(),
  max: z.number(),
  sum: z.number(),
  values: section,
  /** One byte for each row, 1 for null; null when there are none. */
  nulls: section.nullable(),
})
const codes = z.object({
  kind: z.literal('code'),
  type: codeTypes,
  values: section,
  dictionary: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])),
})

/** The header of a segment: rows in the order of their keys. */
const header = z.object({
  month: z.int(),
  rows: z.int().min(1),
  keys: numbers,
  columns: z.array(z.discriminatedUnion('kind', [numbers, codes])),
  /** Name of the segment with what its rows come to; left out where there is none. */
  net: z.string().optional(),
})

export type NumberHeader = Readonly<z.infer<typeof numbers>>
export type CodeHeader = Readonly<z.infer<typeof codes>>
export type SegmentHeader = Readonly<z.infer<typeof header>>

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
  const parsed = header.safeParse(JSON.parse(Buffer.from(text).toString()))
  return parsed.success ? { header: parsed.data, bytes: end } : null
}
