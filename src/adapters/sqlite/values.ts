import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Doc, Scalar } from '../../ports/read-store.ts'

/**
 * Column values of objects, lists and booleans: blobs of one byte. SQLite sorts NULL, numbers, text and blobs in this order,
 * so values sort as in MongoDB: null, numbers, text, objects, lists, booleans.
 */
const OBJECT = Uint8Array.of(0)
const LIST = Uint8Array.of(1)
const FALSE = Uint8Array.of(2)
const TRUE = Uint8Array.of(3)

/** SQL literal of the list blob. */
export const LIST_SQL = "x'01'"

/** Column value of a document's value; for a list or an object it says only the type. */
export function encode(value: unknown): SQLInputValue {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value ? TRUE : FALSE
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? LIST : OBJECT
}

/** Scalar of a column value; null for lists and objects. */
export function decode(value: SQLOutputValue): Scalar {
  if (value instanceof Uint8Array) return value[0] === TRUE[0] ? true : value[0] === FALSE[0] ? false : null
  return typeof value === 'bigint' ? Number(value) : value
}

/** Scalar of a column value; undefined for lists and objects. */
export function decodeOrNone(value: SQLOutputValue): Scalar | undefined {
  if (value instanceof Uint8Array) return value[0] === TRUE[0] ? true : value[0] === FALSE[0] ? false : undefined
  return typeof value === 'bigint' ? Number(value) : value
}

/** A value as a scalar: null for a missing one, undefined for lists and objects. */
export function scalarOrNone(value: unknown): Scalar | undefined {
  if (value === null || value === undefined) return null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

/** Value at a path of a document; undefined when the path does not exist. */
export function valueAt(doc: Doc, keys: readonly string[]): unknown {
  let value: unknown = doc
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = (value as Doc)[key]
  }
  return value
}

/** Quotes a name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** SQL literal of the JSON path for a dotted path. */
export function jsonPath(path: string): string {
  const steps = path.split('.').map((key) => `.${JSON.stringify(key)}`)
  return `'$${steps.join('').replaceAll("'", "''")}'`
}

/** SQL that computes the column value of a path from the document. */
export function jsonValueSql(path: string): string {
  const at = jsonPath(path)
  return encodedSql(`json_type(doc, ${at})`, `json_extract(doc, ${at})`)
}

/** SQL that computes the column value of an element, from a row of json_each. */
export const ELEMENT_VALUE_SQL = encodedSql('element.type', 'element.value')

function encodedSql(type: string, value: string): string {
  return `CASE ${type} WHEN 'true' THEN x'03' WHEN 'false' THEN x'02' WHEN 'array' THEN x'01' WHEN 'object' THEN x'00' ELSE ${value} END`
}
