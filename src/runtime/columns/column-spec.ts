/** Kinds of columns: summed paths are `number`; paths that are grouped by or filtered by equality are `code`. */
export type ColumnKind = 'number' | 'code'

/**
 * A collection with columns. Each document belongs to one workspace and does not expire. `collection` is the plain name; its
 * rebuilds are included.
 */
export interface ColumnSpec {
  readonly collection: string
  /** Path of an integer (≥ 0) that no other document of the workspace has, and that never changes. */
  readonly key: string
  /** Number column of an instant (ms since the epoch), by whose month (UTC) rows are cut into segments. An index on workspace and this path, descending, serves it. */
  readonly time: string
  readonly columns: Readonly<Record<string, ColumnKind>>
  /** Whether documents may be removed. If so, they are counted after each read: a removed one is found by nothing else. */
  readonly removes: boolean
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

/** A spec with its columns in order. */
export interface Layout {
  readonly spec: ColumnSpec
  readonly paths: readonly string[]
  readonly kinds: readonly ColumnKind[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Index of the instant's column. */
  readonly time: number
  /** What segments of this layout have in common; one with another text is made anew. */
  readonly text: string
}

/** The layout of a spec. @throws Error when its instant has no number column */
export function layoutOf(spec: ColumnSpec): Layout {
  const paths = Object.keys(spec.columns)
  const kinds = Object.values(spec.columns)
  const time = paths.indexOf(spec.time)
  if (kinds[time] !== 'number') throw new Error(`${spec.collection} has no number column ${spec.time}.`)
  const { key, columns } = spec
  const indexOf = new Map(paths.map((path, index) => [path, index]))
  return { spec, paths, kinds, indexOf, time, text: JSON.stringify({ key, time: spec.time, columns }) }
}

/** Month of an instant (ms since the epoch, UTC): months since the year 0. */
export function monthOf(ms: number): number {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Name of a month: `2026-11`. */
export function monthText(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
}
