/** Kinds of columns: summed paths are `number`; paths that are grouped by or filtered by equality are `code`. */
export type ColumnKind = 'number' | 'code'

/**
 * How a number follows from others of its document: by the value of a code column, 0 for a value that is not named; or as the
 * difference of two number columns, where null counts as 0.
 */
export type Derivation =
  | { readonly of: string; readonly numbers: Readonly<Record<string, number>> }
  | { readonly plus: string; readonly minus: string }

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
  /** Number columns that are not read, since they follow from others. The documents hold the same numbers. */
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
  | { readonly column: number; readonly of: number; readonly numbers: ReadonlyMap<unknown, number> }
  | { readonly column: number; readonly plus: number; readonly minus: number }

/** A spec with its columns in order: those that are read, then those that are derived. */
export interface Layout {
  readonly spec: ColumnSpec
  /** Paths of the columns that are read. */
  readonly read: readonly string[]
  readonly kinds: readonly ColumnKind[]
  readonly derived: readonly DerivedColumn[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Index of the instant's column. */
  readonly time: number
  /** What segments of this layout have in common; one with another text is made anew. */
  readonly text: string
}

/** The layout of a spec. @throws Error when its instant has no number column, or a derivation no column of its kind */
export function layoutOf(spec: ColumnSpec): Layout {
  const { key, columns, derived = {} } = spec
  const read = Object.keys(columns)
  const indexOf = new Map([...read, ...Object.keys(derived)].map((path, index) => [path, index]))
  const indexed = (path: string, kind: ColumnKind): number => {
    if (columns[path] !== kind) throw new Error(`${spec.collection} has no ${kind} column ${path}.`)
    return indexOf.get(path) ?? 0
  }
  return {
    spec,
    read,
    kinds: [...Object.values(columns), ...Object.keys(derived).map((): ColumnKind => 'number')],
    derived: Object.entries(derived).map(([path, derivation]): DerivedColumn => {
      const column = indexOf.get(path) ?? 0
      if ('of' in derivation) {
        const { of, numbers } = derivation
        return { column, of: indexed(of, 'code'), numbers: new Map(Object.entries(numbers)) }
      }
      return { column, plus: indexed(derivation.plus, 'number'), minus: indexed(derivation.minus, 'number') }
    }),
    indexOf,
    time: indexed(spec.time, 'number'),
    text: JSON.stringify({ key, time: spec.time, columns, derived }),
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
