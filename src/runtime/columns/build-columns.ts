import { createMutex } from '../../kernel/async/mutex.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { lookAtRows, type SegmentBuilder, type WorkspaceRows } from './build-part.ts'
import type { BuildParts } from './column-parts.ts'
import { putRecent } from './follow-rows.ts'
import { MANIFEST, writeManifest } from './manifest.ts'
import { type RowRead, readByTime, type TimeSpan } from './read-rows.ts'
import { fileNamesOf, type Segment } from './segment.ts'
import { createRecentRows, createWorkspaceColumns, type WorkspaceColumns } from './workspace-columns.ts'

/**
 * Reads all documents of a workspace and makes its columns: segments by month; or rows in memory alone where they are few.
 * `coverage`: what was folded before the reading began. @throws StoreUnavailable, FilesUnavailable
 */
export async function buildColumns(
  { files, limits, identity, builder }: BuildParts,
  read: RowRead,
  folder: string,
  coverage: number,
): Promise<WorkspaceColumns> {
  const { workspaceId, collection, layout } = read
  const rows: WorkspaceRows = { spec: layout.spec, collection, workspaceId, limits }
  const empty = createWorkspaceColumns({ workspaceId, folder, coverage }, [], createRecentRows(layout))
  const found = await lookAtRows(read.store, rows)
  if (found === 'few') {
    await files.remove(folder)
    return readRecent(empty, read)
  }
  const segments = found === 'unfit' ? null : await buildSegments(builder, rows, folder, found.about)
  if (!segments) return { ...empty, isUnfit: true }
  const names = segments.map(({ name }) => name)
  await writeManifest(files, layout, { store: await identity(), collection, workspaceId, coverage, segments: names })
  const current = new Set([...fileNamesOf(segments), MANIFEST])
  for (const name of await files.list(folder)) if (!current.has(name)) await files.remove(`${folder}/${name}`)
  return { ...empty, segments }
}

/** Rows of a part: at most a segment's, and so many that parts which are built at the same time end at the same time. */
function partRows(about: number, width: number, segmentRows: number): number {
  const rounds = Math.ceil(about / (width * segmentRows))
  return about > segmentRows ? Math.ceil(about / (width * rounds)) : segmentRows
}

/** Builds the segments of all spans, newest first; null where a document does not fit the columns. */
async function buildSegments(
  { width, spanBefore, build }: SegmentBuilder,
  rows: WorkspaceRows,
  folder: string,
  about: number,
): Promise<readonly Segment[] | null> {
  const ofPart = partRows(about, width, rows.limits.segmentRows)
  const turn = createMutex()
  const parts: (readonly Segment[] | null)[] = []
  let to: number | null = null
  let isLast = false
  const nextSpan = () =>
    turn(async () => {
      if (isLast) return null
      const span: TimeSpan = await spanBefore({ rows, to, count: ofPart })
      to = span.from
      isLast = span.from === null
      return span
    })
  async function buildNext(): Promise<void> {
    for (let span = await nextSpan(); span; span = await nextSpan()) {
      const place = parts.push(null) - 1
      parts[place] = await build({ ...rows, span, folder })
    }
  }
  await Promise.all(Array.from({ length: width }, buildNext))
  return parts.every((part) => part !== null) ? parts.flat() : null
}

/** Puts all documents of a workspace among the recent rows. Other work of the thread runs in between. */
async function readRecent(state: WorkspaceColumns, read: RowRead): Promise<WorkspaceColumns> {
  for await (const page of readByTime(read)) {
    for (const row of page) if (!putRecent(state.recent, row)) return { ...state, isUnfit: true }
    await yieldToEventLoop()
  }
  return state
}
