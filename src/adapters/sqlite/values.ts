import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Doc, Scalar } from '../../ports/read-store.ts'

/**
 * Values of documents as SQLite compares them. NULL, numbers, text and blobs sort in this order, which is MongoDB's own for
 * null, numbers, text, objects, lists and booleans when the latter three are blobs of one byte.
 */
const OBJECT = Uint8Array.of(0)
const LIST = Uint8Array.of(1)
const FALSE = Uint8Array.of(2)
const TRUE = Uint8Array.of(3)

/** The same blobs in SQL. */
export const LIST_SQL = "x'01'"

/** A value as a column holds it; a list or an object only says that it is one. */
export function encode(value: unknown): SQLInputValue {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value ? TRUE : FALSE
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? LIST : OBJECT
}

/** What a column held; lists and objects, which are no scalars, read as null. */
export function decode(value: SQLOutputValue): Scalar {
  if (value instanceof Uint8Array) return value[0] === TRUE[0] ? true : value[0] === FALSE[0] ? false : null
  return typeof value === 'bigint' ? Number(value) : value
}

/** Value at a dotted path of a document; undefined where there is none. */
export function valueAt(doc: Doc, keys: readonly string[]): unknown {
  let value: unknown = doc
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = (value as Doc)[key]
  }
  return value
}

/** SQL text of a name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** SQL text of SQLite's JSON path for a dotted path. */
export function jsonPath(path: string): string {
  const steps = path.split('.').map((key) => `.${JSON.stringify(key)}`)
  return `'$${steps.join('').replaceAll("'", "''")}'`
}

/** SQL that reads, from the document, what a column of this path would hold. */
export function jsonValueSql(path: string): string {
  const at = jsonPath(path)
  return encodedSql(`json_type(doc, ${at})`, `json_extract(doc, ${at})`)
}

/** SQL that reads, from a row of json_each, what a column would hold. */
export const ELEMENT_VALUE_SQL = encodedSql('element.type', 'element.value')

function encodedSql(type: string, value: string): string {
  return `CASE ${type} WHEN 'true' THEN x'03' WHEN 'false' THEN x'02' WHEN 'array' THEN x'01' WHEN 'object' THEN x'00' ELSE ${value} END`
}
