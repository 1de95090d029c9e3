import { Map as PersistentMap, Set as PersistentSet } from 'immutable'
import { TOMBSTONE } from '../../../kernel/windowed-map.ts'
import { createGrowingBytes, type GrowingBytes } from './growing-bytes.ts'
import { INSTANT_BYTES, TAG, UUID_BYTES } from './packed-tags.ts'

const UUID = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/
const UUID_LENGTH = 36
const INSTANT_LENGTH = 24
const MAX_INSTANT_MS = 2 ** (8 * INSTANT_BYTES) - 1
/** Shorter texts take no less by their place. */
const LEAST_REPEATED = 4

/** Packs values one after another into bytes. */
export interface Packer {
  /** Bytes so far. */
  readonly size: () => number
  /** Packs a value. Fields that are undefined are left out. @throws TypeError for what is no part of a state */
  readonly put: (value: unknown) => void
  /** A copy of the bytes. */
  readonly copy: () => Buffer<ArrayBuffer>
}

interface PackerState {
  readonly out: GrowingBytes
  /** Places of texts. */
  readonly texts: Map<string, number>
  /** Places of the field names of records, by their JSON. */
  readonly shapes: Map<string, number>
}

/** Creates a packer: UUIDs and instants become numbers, repeated texts and field names their place. */
export function createPacker(): Packer {
  const state: PackerState = { out: createGrowingBytes(), texts: new Map(), shapes: new Map() }
  return { size: state.out.size, put: (value) => put(state, value), copy: state.out.copy }
}

function put(state: PackerState, value: unknown): void {
  const { out } = state
  if (typeof value === 'string') putText(state, value)
  else if (typeof value === 'number') putNumber(out, value)
  else if (value === true) out.byte(TAG.true)
  else if (value === false) out.byte(TAG.false)
  else if (value === null || value === undefined) out.byte(TAG.null)
  else if (value === TOMBSTONE) out.byte(TAG.deleted)
  else if (typeof value === 'object') putObject(state, value)
  else throw new TypeError(`A state holds a ${typeof value}, which no snapshot can keep.`)
}

function putNumber(out: GrowingBytes, value: number): void {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
    out.byte(TAG.float)
    out.float(value)
  } else {
    out.byte(value < 0 ? TAG.below : TAG.whole)
    out.varint(value < 0 ? -1 - value : value)
  }
}

function putText(state: PackerState, text: string): void {
  const { out, texts } = state
  const known = texts.get(text)
  if (known !== undefined) {
    out.byte(TAG.same)
    out.varint(known)
    return
  }
  const parts = text.length > UUID_LENGTH ? text.split(UUID).filter((part) => part !== '') : []
  if (parts.length > 1) {
    out.byte(TAG.joined)
    out.varint(parts.length)
    for (const part of parts) putText(state, part)
    return
  }
  if (text.length >= LEAST_REPEATED) texts.set(text, out.size())
  putNewText(out, text)
}

function putNewText(out: GrowingBytes, text: string): void {
  const ms = instantMs(text)
  if (ms >= 0) {
    out.byte(TAG.instant)
    out.fixed(ms, INSTANT_BYTES)
  } else if (text.length === UUID_LENGTH && UUID.test(text)) {
    out.byte(TAG.uuid)
    out.text(text.replaceAll('-', ''), UUID_BYTES, 'hex')
  } else {
    const encoding = text.isWellFormed() ? 'utf8' : 'utf16le'
    const length = Buffer.byteLength(text, encoding)
    out.byte(encoding === 'utf8' ? TAG.text : TAG.wide)
    out.varint(length)
    out.text(text, length, encoding)
  }
}

/** Milliseconds of a text that is an instant exactly as `toISOString` writes it; -1 for any other text. */
function instantMs(text: string): number {
  if (text.length !== INSTANT_LENGTH || !text.endsWith('Z')) return -1
  const ms = Date.parse(text)
  return ms >= 0 && ms <= MAX_INSTANT_MS && new Date(ms).toISOString() === text ? ms : -1
}

function putObject(state: PackerState, value: object): void {
  if (Array.isArray(value)) putAll(state, TAG.list, value.length, value)
  else if (PersistentMap.isMap(value)) putAll(state, TAG.map, value.size, [...value.entries()].flat())
  else if (PersistentSet.isSet(value)) putAll(state, TAG.set, value.size, value.values())
  else if (isPlain(value)) putRecord(state, value)
  else throw new TypeError('A state holds an object that no snapshot can keep.')
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function putAll(state: PackerState, tag: number, size: number, values: Iterable<unknown>): void {
  state.out.byte(tag)
  state.out.varint(size)
  for (const value of values) put(state, value)
}

function putRecord(state: PackerState, record: Readonly<Record<string, unknown>>): void {
  const { out, shapes } = state
  const fields = Object.keys(record).filter((field) => record[field] !== undefined)
  const shape = JSON.stringify(fields)
  const known = shapes.get(shape)
  if (known === undefined) {
    out.byte(TAG.record)
    shapes.set(shape, out.size())
    out.varint(fields.length)
    for (const field of fields) putText(state, field)
  } else {
    out.byte(TAG.alike)
    out.varint(known)
  }
  for (const field of fields) put(state, record[field])
}
