import type { BuildParts, TrackingParts } from './column-parts.ts'
import { type Layout, monthOf } from './column-spec.ts'
import { appendRows, appendSome } from './copy-rows.ts'
import { writeManifest } from './manifest.ts'
import { createRowBuffer, keyAt, numberAt, type RowBuffer } from './row-buffer.ts'
import { fileNamesOf, type Segment, type SegmentReader } from './segment.ts'
import type { WorkspaceColumns } from './workspace-columns.ts'
import { writeSegments } from './write-segments.ts'

/** Rows that become segments: what is left of an old segment, and changed rows of its month. */
interface Rewrite {
  readonly month: number
  readonly old: Segment | null
  readonly rows: number[]
}

/** How long expired rows are kept, for readers whose clocks differ (ms). */
const EXPIRED_SLACK_MS = 86_400_000

/** Whether all rows of a segment have expired: no question looks so far back. */
function hasExpired({ spec, time }: Layout, { header }: Segment, now: number): boolean {
  const instants = header.columns[time]
  if (spec.retentionMs === undefined || instants?.kind !== 'number') return false
  return instants.max + spec.retentionMs + EXPIRED_SLACK_MS < now
}

const hasKey = ({ header }: Segment, key: number) => key >= header.keys.min && key <= header.keys.max

/**
 * Which segments are made anew. A changed row goes to the segment of its month among whose keys its own is, otherwise to the
 * smallest one. Segments with replaced rows are made anew too.
 */
function planRewrites(layout: Layout, { segments, dead }: WorkspaceColumns, changed: RowBuffer): readonly Rewrite[] {
  const byMonth = Map.groupBy(segments, ({ header }) => header.month)
  const rewrites = new Map<Segment | number, Rewrite>()
  const rewriteOf = (month: number, old: Segment | null): Rewrite => {
    const known = rewrites.get(old ?? month)
    if (known) return known
    const rewrite = { month, old, rows: [] }
    rewrites.set(old ?? month, rewrite)
    return rewrite
  }
  for (const segment of segments) if (dead.has(segment.name)) rewriteOf(segment.header.month, segment)
  for (let row = 0; row < changed.rows; row++) {
    const month = monthOf(numberAt(changed, layout.time, row))
    const parts = byMonth.get(month) ?? []
    const key = keyAt(changed, row)
    const smallest = parts.reduce<Segment | null>(
      (least, part) => (least === null || part.header.rows < least.header.rows ? part : least),
      null,
    )
    rewriteOf(month, parts.find((part) => hasKey(part, key)) ?? smallest).rows.push(row)
  }
  return [...rewrites.values()]
}

/** Makes the segments of one rewrite. @throws DamagedSegment, FilesUnavailable */
async function rewrite(
  { files, limits }: BuildParts,
  layout: Layout,
  { folder, dead }: WorkspaceColumns,
  reader: SegmentReader,
  { month, old, rows }: Rewrite,
  changed: RowBuffer,
): Promise<readonly Segment[]> {
  const buffer = createRowBuffer(layout)
  if (old) {
    const columns = layout.kinds.map((_, index) => index)
    const [source, keys] = [await reader.load(old, columns, dead.get(old.name) ?? null), await reader.keys(old)]
    await appendRows(buffer, source, keys.values, keys.base)
  }
  await appendSome(buffer, changed, rows)
  return buffer.rows === 0 ? [] : writeSegments(files, folder, month, buffer, limits.segmentRows)
}

/** The segments of a workspace after a merge, and the names of those that they replace. */
export interface MergedColumns {
  readonly segments: readonly Segment[]
  readonly replaced: readonly string[]
}

/**
 * Writes new segments with the rows that are being merged, and the manifest that names them. The state itself
 * stays as it is: who sums meanwhile finds each document once. @throws DamagedSegment, FilesUnavailable
 */
export async function mergeColumns(
  parts: TrackingParts,
  layout: Layout,
  collection: string,
  state: WorkspaceColumns,
  reader: SegmentReader,
  { buffer: changed, coverage }: NonNullable<WorkspaceColumns['merging']>,
): Promise<MergedColumns> {
  const at = parts.clock.now()
  const expired = new Set(state.segments.filter((segment) => hasExpired(layout, segment, at)))
  // A later change may replace further rows meanwhile: they count from here on.
  const now = { ...state, segments: state.segments.filter((segment) => !expired.has(segment)) }
  const rewrites = planRewrites(layout, now, changed)
  const old = new Set([...expired, ...rewrites.flatMap((one) => one.old ?? [])])
  const fresh: Segment[] = []
  for (const one of rewrites) fresh.push(...(await rewrite(parts, layout, now, reader, one, changed)))
  const segments = [...now.segments.filter((segment) => !old.has(segment)), ...fresh]
  const names = new Set(segments.map(({ name }) => name))
  const { workspaceId } = state
  const store = await parts.identity()
  await writeManifest(parts.files, layout, { store, collection, workspaceId, coverage, segments: [...names] })
  const kept = new Set(fileNamesOf(segments))
  const replaced = fileNamesOf([...old]).filter((name) => !kept.has(name))
  return { segments, replaced }
}
