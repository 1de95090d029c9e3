/** Kinds of columns: summed paths are `number`; paths that are grouped by or filtered by equality are `code`. */
export type ColumnKind = 'number' | 'code'

/**
 * How a column follows from others of its row. Numbers: by the value of a code column, 0 for a value that is not named, times a
 * number column if there is one; the difference or the product of two number columns, where null counts as 0. Codes: a number
 * column in whole units.
 */
export type Derivation =
  | { readonly of: string; readonly numbers: Readonly<Record<string, number>>; readonly times?: string }
  | { readonly plus: string; readonly minus: string }
  | { readonly product: readonly [string, string] }
  | { readonly units: string; readonly size: number }

/**
 * Documents that hold several rows: a text of JSON lists with commas between them, one list for each row, its values in the order of
 * `columns`. Rows are only added, never changed. The other columns are the document's, and the same in each of its rows.
 */
export interface RowsSpec {
  /** Path of the text. */
  readonly path: string
  /** More rows than any document has: the key of a row is that of its document times this, plus its place. */
  readonly perDocument: number
  readonly columns: Readonly<Record<string, ColumnKind>>
  /** Number columns that add up. Rows of a document that are alike otherwise can be read as one; where all are zero, as none. */
  readonly summed: readonly string[]
  /** Number column of the instant at which a row was added: of rows that are read as one, the latest. */
  readonly latest: string
}

/**
 * A collection with columns. Each document belongs to one workspace, and does not expire unless `retentionMs` says when.
 * `collection` is the plain name; its rebuilds are included.
 */
export interface ColumnSpec {
  readonly collection: string
  /** Path of an integer (≥ 0) that no other document of the workspace has, and that never changes. */
  readonly key: string
  /** Number column of an instant (ms since the epoch), by whose month (UTC) rows are cut into segments. An index on workspace and this path, descending, serves it. */
  readonly time: string
  readonly columns: Readonly<Record<string, ColumnKind>>
  /** Rows within documents; left out where each document is a row. */
  readonly rows?: RowsSpec
  /** Columns that are not read, since they follow from others. Where each document is a row, it holds the same numbers. */
  readonly derived?: Readonly<Record<string, Derivation>>
  /** Whether documents may be removed. If so, they are counted after each read: a removed one is found by nothing else. */
  readonly removes: boolean
  /** Milliseconds after its instant at which a document expires; left out where none does. */
  readonly retentionMs?: number
}

/** Limits of the columns of a process. */
export interface ColumnLimits {
  /** Bytes of loaded columns and of rows that are not yet in segments, of all workspaces together. */
  readonly memoryBytes: number
  /** Rows of a segment: a month with more has several. */
  readonly segmentRows: number
  /** Rows that changed since the segments were made, from which on they are merged into them. A workspace with fewer rows has no files. */
  readonly mergeRows: number
  /** Rows that are read from the store at once. */
  readonly pageRows: number
}

export const COLUMN_LIMITS: ColumnLimits = {
  memoryBytes: 256 * 1024 * 1024,
  segmentRows: 131_072,
  mergeRows: 16_384,
  pageRows: 2_000,
}

/** A derivation with the indexes of its columns. */
export type DerivedColumn =
  | {
      readonly column: number
      readonly of: number
      readonly numbers: ReadonlyMap<unknown, number>
      readonly times: number
    }
  | { readonly column: number; readonly plus: number; readonly minus: number }
  | { readonly column: number; readonly product: readonly [number, number] }
  | { readonly column: number; readonly units: number; readonly size: number }

/** What is known of rows within documents, by the index of the column. */
export interface RowsLayout {
  readonly perDocument: number
  /** Columns of the document, before those of the row. */
  readonly documentColumns: number
  readonly summed: readonly number[]
  readonly latest: number
}

/** A spec with its columns in order: those that are read, then those that are derived. */
export interface Layout {
  readonly spec: ColumnSpec
  /** Columns that are read, of documents and then of rows within them. */
  readonly read: readonly string[]
  /** Paths that are read of a document. */
  readonly paths: readonly string[]
  readonly rows: RowsLayout | null
  readonly kinds: readonly ColumnKind[]
  readonly derived: readonly DerivedColumn[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Index of the instant's column. */
  readonly time: number
  /** What segments of this layout have in common; one with another text is made anew. */
  readonly text: string
}

const kindOf = (derivation: Derivation): ColumnKind => ('units' in derivation ? 'code' : 'number')

/** Index of a column by its path and kind. */
type IndexOf = (path: string, kind: ColumnKind) => number

function derivedColumn(column: number, derivation: Derivation, indexed: IndexOf): DerivedColumn {
  if ('of' in derivation) {
    const { of, numbers, times } = derivation
    const factor = times === undefined ? -1 : indexed(times, 'number')
    return { column, of: indexed(of, 'code'), numbers: new Map(Object.entries(numbers)), times: factor }
  }
  if ('plus' in derivation)
    return { column, plus: indexed(derivation.plus, 'number'), minus: indexed(derivation.minus, 'number') }
  if ('product' in derivation) {
    const [one, other] = derivation.product
    return { column, product: [indexed(one, 'number'), indexed(other, 'number')] }
  }
  return { column, units: indexed(derivation.units, 'number'), size: derivation.size }
}

/** The layout of a spec. @throws Error when its instant has no number column, or a derivation no column of its kind */
export function layoutOf(spec: ColumnSpec): Layout {
  const { key, rows, derived = {} } = spec
  const columns = { ...spec.columns, ...rows?.columns }
  const read = Object.keys(columns)
  const own = Object.keys(spec.columns)
  const indexOf = new Map([...read, ...Object.keys(derived)].map((path, index) => [path, index]))
  const indexed: IndexOf = (path, kind) => {
    if (columns[path] !== kind) throw new Error(`${spec.collection} has no ${kind} column ${path}.`)
    return indexOf.get(path) ?? 0
  }
  return {
    spec,
    read,
    paths: rows ? [...own, rows.path] : own,
    rows: rows
      ? {
          perDocument: rows.perDocument,
          documentColumns: own.length,
          summed: rows.summed.map((path) => indexed(path, 'number')),
          latest: indexed(rows.latest, 'number'),
        }
      : null,
    kinds: [...Object.values(columns), ...Object.values(derived).map(kindOf)],
    derived: Object.entries(derived).map(([path, derivation]) =>
      derivedColumn(indexOf.get(path) ?? 0, derivation, indexed),
    ),
    indexOf,
    time: indexed(spec.time, 'number'),
    text: JSON.stringify({ key, time: spec.time, columns, derived, ...(rows && { rows }) }),
  }
}

/** Month of an instant (ms since the epoch, UTC): months since the year 0. */
export function monthOf(ms: number): number {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The first instant of a month (ms since the epoch). */
export function monthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12)
}

/** Name of a month: `2026-11`. */
export function monthText(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
}
