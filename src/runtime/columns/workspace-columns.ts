import type { Layout } from './column-spec.ts'
import { bufferSource, createRowBuffer, type RowBuffer } from './row-buffer.ts'
import type { Segment } from './segment.ts'

/** Rows in memory, found by their keys. */
export interface RecentRows {
  readonly buffer: RowBuffer
  readonly rowOf: Map<number, number>
  /** Rows that newer ones replace, ascending. */
  dead: Uint32Array | null
}

/**
 * The columns of one workspace in one build: immutable segments, and the rows that changed since they were made. Each document
 * counts once: in `recent`, otherwise in `merging`, otherwise in a segment.
 */
export interface WorkspaceColumns {
  readonly workspaceId: string
  /** Folder of its segments. */
  readonly folder: string
  segments: readonly Segment[]
  /** Rows of segments that newer ones replace, ascending, by the name of the segment. */
  dead: ReadonlyMap<string, Uint32Array>
  recent: RecentRows
  /** Rows that are being merged into new segments: they change no more. `coverage`: that of the state when they ceased to. */
  merging: (RecentRows & { readonly coverage: number }) | null
  /** Every document that was folded up to this position is included. */
  coverage: number
  /** Change count of the projection that is included; null when unknown. */
  changes: number | string | null
  /** Whether a document did not fit the columns: if so, the store answers. */
  isUnfit: boolean
}

const SEGMENT_BYTES = 4_096
const ENTRY_BYTES = 48
const STATE_BYTES = 1_024

export function createRecentRows(layout: Layout): RecentRows {
  return { buffer: createRowBuffer(layout), rowOf: new Map(), dead: null }
}

/** The columns of a workspace whose segments cover it up to a position. */
export function createWorkspaceColumns(
  { workspaceId, folder, coverage }: Pick<WorkspaceColumns, 'workspaceId' | 'folder' | 'coverage'>,
  segments: readonly Segment[],
  recent: RecentRows,
): WorkspaceColumns {
  return {
    workspaceId,
    folder,
    coverage,
    segments,
    dead: new Map(),
    recent,
    merging: null,
    changes: null,
    isUnfit: false,
  }
}

const bytesOfRecent = ({ buffer, rowOf, dead }: RecentRows): number =>
  buffer.bytes + ENTRY_BYTES * rowOf.size + (dead?.byteLength ?? 0)

const entriesOf = ({ header }: Segment): number =>
  header.columns.reduce((sum, column) => sum + (column.kind === 'code' ? column.dictionary.length : 0), 0)

/** About the bytes that a state takes, without the loaded sections of its segments. */
export function bytesOfWorkspace({ segments, dead, recent, merging }: WorkspaceColumns): number {
  const headers = segments.reduce((sum, segment) => sum + SEGMENT_BYTES + ENTRY_BYTES * entriesOf(segment), 0)
  const replaced = [...dead.values()].reduce((sum, rows) => sum + rows.byteLength, 0)
  return STATE_BYTES + headers + replaced + bytesOfRecent(recent) + (merging ? bytesOfRecent(merging) : 0)
}

/** Documents that the columns include. */
export function rowsOfWorkspace({ segments, dead, recent, merging }: WorkspaceColumns): number {
  const alive = segments.reduce((sum, { name, header }) => sum + header.rows - (dead.get(name)?.length ?? 0), 0)
  return alive + recent.rowOf.size + (merging ? merging.rowOf.size - (merging.dead?.length ?? 0) : 0)
}

/** The rows in memory as sources of columns. */
export function recentSources({ recent, merging }: WorkspaceColumns) {
  return [merging, recent].flatMap((rows) => (rows ? [bufferSource(rows.buffer, rows.dead)] : []))
}

/** Ascending rows with others added, in a new array. */
export function withRows(rows: Uint32Array | null | undefined, added: readonly number[]): Uint32Array {
  const all = new Uint32Array((rows?.length ?? 0) + added.length)
  if (rows) all.set(rows)
  all.set(added, rows?.length ?? 0)
  return all.sort()
}
