import type { Scalar } from '../../ports/read-store.ts'

export type NumberArray = Int32Array | Float64Array

/** The numbers at one path, by row. A null or missing number is stored as 0 and marked in `nulls`. */
export interface NumberColumn {
  readonly kind: 'number'
  /** An Int32Array while every number fits, which halves the memory to scan. */
  values: NumberArray
  /** 1 in rows without a number; null while every row has one. */
  nulls: Uint8Array | null
}

/** The scalars at one path, by row, each as its index in the dictionary. Code 0 is null. */
export interface CodeColumn {
  readonly kind: 'code'
  values: Int32Array
  readonly codes: Map<Scalar, number>
  readonly dictionary: Scalar[]
}

export type Column = NumberColumn | CodeColumn
export type ColumnKind = Column['kind']

/** The columns of one workspace. Rows are in the order in which their documents were first loaded. */
export interface Table {
  rows: number
  capacity: number
  readonly columns: ReadonlyMap<string, Column>
  /** Row + 1, by the ordinal of the document; 0 for a document that has not been loaded. */
  rowOf: Int32Array
}

const FIRST_ROWS = 1_024
const MAX_ORDINAL = 2 ** 31 - 2

/** Creates an empty table with these columns. */
export function createTable(kinds: Readonly<Record<string, ColumnKind>>): Table {
  const columns = Object.entries(kinds).map(([path, kind]): [string, Column] => [
    path,
    kind === 'number'
      ? { kind, values: new Int32Array(FIRST_ROWS), nulls: null }
      : { kind, values: new Int32Array(FIRST_ROWS), codes: new Map([[null, 0]]), dictionary: [null] },
  ])
  return { rows: 0, capacity: FIRST_ROWS, columns: new Map(columns), rowOf: new Int32Array(FIRST_ROWS) }
}

function copyInto<A extends Int32Array | Float64Array | Uint8Array>(old: A, fresh: A): A {
  fresh.set(old)
  return fresh
}

function growRows(table: Table): void {
  table.capacity *= 2
  for (const column of table.columns.values()) {
    if (column.kind === 'code') column.values = copyInto(column.values, new Int32Array(table.capacity))
    else {
      const { values } = column
      column.values =
        values instanceof Int32Array
          ? copyInto(values, new Int32Array(table.capacity))
          : copyInto(values, new Float64Array(table.capacity))
      if (column.nulls) column.nulls = copyInto(column.nulls, new Uint8Array(table.capacity))
    }
  }
}

/** The row of an ordinal (1, 2, 3…), added when it is missing; null for a value that is not an ordinal. */
export function rowFor(table: Table, ordinal: unknown): number | null {
  if (typeof ordinal !== 'number' || !Number.isInteger(ordinal) || ordinal < 0 || ordinal > MAX_ORDINAL) return null
  if (ordinal >= table.rowOf.length) {
    const size = Math.min(MAX_ORDINAL + 1, Math.max(table.rowOf.length * 2, ordinal + 1))
    table.rowOf = copyInto(table.rowOf, new Int32Array(size))
  }
  const known = table.rowOf[ordinal] ?? 0
  if (known > 0) return known - 1
  if (table.rows === table.capacity) growRows(table)
  table.rows += 1
  table.rowOf[ordinal] = table.rows
  return table.rows - 1
}

/** Stores a value in a column; returns false when the column cannot hold it. */
export function put(table: Table, column: Column, row: number, value: unknown): boolean {
  return column.kind === 'number' ? putNumber(table, column, row, value) : putCode(column, row, value)
}

function putNumber(table: Table, column: NumberColumn, row: number, value: unknown): boolean {
  if (value === null || value === undefined) {
    column.nulls ??= new Uint8Array(table.capacity)
    column.nulls[row] = 1
    column.values[row] = 0
    return true
  }
  if (typeof value !== 'number') return false
  if (column.nulls) column.nulls[row] = 0
  if (column.values instanceof Int32Array && (value | 0) !== value) column.values = Float64Array.from(column.values)
  column.values[row] = value
  return true
}

function putCode(column: CodeColumn, row: number, value: unknown): boolean {
  const scalar = value ?? null
  if (scalar !== null && typeof scalar !== 'string' && typeof scalar !== 'number' && typeof scalar !== 'boolean')
    return false
  let code = column.codes.get(scalar)
  if (code === undefined) {
    code = column.dictionary.push(scalar) - 1
    column.codes.set(scalar, code)
  }
  column.values[row] = code
  return true
}
