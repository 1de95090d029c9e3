import { Map as PersistentMap, Set as PersistentSet } from 'immutable'
import { TOMBSTONE } from '../../../kernel/windowed-map.ts'
import { INSTANT_BYTES, TAG, UUID_BYTES } from './packed-tags.ts'

const FLOAT_BYTES = 8

/** Reads packed values by their place. */
export interface Unpacker {
  /** The value at a place. */
  readonly valueAt: (place: number) => unknown
  /** The value behind the last one that was read. */
  readonly next: () => unknown
}

/** Packed bytes and the place at which they are read. */
interface Cursor {
  readonly bytes: Buffer
  at: number
  /** Field names of records by their place. */
  readonly shapes: Map<number, readonly string[]>
}

/** Unpacks what one packer packed. @throws RangeError for other bytes */
export function createUnpacker(packed: Uint8Array): Unpacker {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const cursor: Cursor = { bytes, at: 0, shapes: new Map() }
  return {
    next: () => next(cursor),
    valueAt(place) {
      cursor.at = place
      return next(cursor)
    },
  }
}

function next(cursor: Cursor): unknown {
  const read = READERS[cursor.bytes.readUInt8(cursor.at++)]
  if (!read) throw new RangeError('The bytes hold no packed value.')
  return read(cursor)
}

const READERS: Readonly<Record<number, (cursor: Cursor) => unknown>> = {
  [TAG.null]: () => null,
  [TAG.true]: () => true,
  [TAG.false]: () => false,
  [TAG.whole]: varint,
  [TAG.below]: (cursor) => -1 - varint(cursor),
  [TAG.float](cursor) {
    cursor.at += FLOAT_BYTES
    return cursor.bytes.readDoubleLE(cursor.at - FLOAT_BYTES)
  },
  [TAG.text]: (cursor) => slice(cursor, varint(cursor), 'utf8'),
  [TAG.wide]: (cursor) => slice(cursor, varint(cursor), 'utf16le'),
  [TAG.uuid]: uuid,
  [TAG.instant](cursor) {
    cursor.at += INSTANT_BYTES
    return new Date(cursor.bytes.readUIntLE(cursor.at - INSTANT_BYTES, INSTANT_BYTES)).toISOString()
  },
  [TAG.same](cursor) {
    const place = varint(cursor)
    return elsewhere(cursor, place, next)
  },
  [TAG.joined]: (cursor) => list(cursor).join(''),
  [TAG.list]: list,
  [TAG.record](cursor) {
    const place = cursor.at
    const fields = list(cursor).map(String)
    cursor.shapes.set(place, fields)
    return record(cursor, fields)
  },
  [TAG.alike](cursor) {
    const place = varint(cursor)
    return record(cursor, fieldsAt(cursor, place))
  },
  [TAG.map]: (cursor) =>
    PersistentMap(Array.from({ length: varint(cursor) }, () => [next(cursor), next(cursor)] as const)),
  [TAG.set]: (cursor) => PersistentSet(list(cursor)),
  [TAG.deleted]: () => TOMBSTONE,
}

function varint(cursor: Cursor): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const part = cursor.bytes.readUInt8(cursor.at++)
    value += (part & 127) * scale
    if (part < 128) return value
  }
}

function slice(cursor: Cursor, length: number, encoding: BufferEncoding): string {
  cursor.at += length
  if (cursor.at > cursor.bytes.length) throw new RangeError('The bytes end inside a text.')
  return cursor.bytes.toString(encoding, cursor.at - length, cursor.at)
}

function uuid(cursor: Cursor): string {
  const hex = slice(cursor, UUID_BYTES, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function list(cursor: Cursor): readonly unknown[] {
  return Array.from({ length: varint(cursor) }, () => next(cursor))
}

/** Reads at another place, then goes on at the present one. */
function elsewhere<Result>(cursor: Cursor, place: number, read: (cursor: Cursor) => Result): Result {
  const back = cursor.at
  cursor.at = place
  const result = read(cursor)
  cursor.at = back
  return result
}

function fieldsAt(cursor: Cursor, place: number): readonly string[] {
  const known = cursor.shapes.get(place)
  if (known) return known
  const fields = elsewhere(cursor, place, list).map(String)
  cursor.shapes.set(place, fields)
  return fields
}

const OWN_FIELD = { writable: true, enumerable: true, configurable: true } as const

function record(cursor: Cursor, fields: readonly string[]): unknown {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    const value = next(cursor)
    // A plain assignment of this field would set the prototype.
    if (field === '__proto__') Object.defineProperty(values, field, { value, ...OWN_FIELD })
    else values[field] = value
  }
  return values
}
