import type { Files } from '../../ports/files.ts'
import type { Filter, ReadStore, Scalar } from '../../ports/read-store.ts'
import { type ColumnLimits, type ColumnSpec, type Layout, layoutOf, monthOf, monthStart } from './column-spec.ts'
import { type RowRead, readByTime, type TimeSpan, VALUES_AT } from './read-rows.ts'
import { addRows, createRowBuffer, putRows, type RowBuffer } from './row-buffer.ts'
import type { Segment } from './segment.ts'
import { writeSegments } from './write-segments.ts'

/** The documents of a workspace in one build. Plain data, which threads exchange. */
export interface WorkspaceRows {
  readonly spec: ColumnSpec
  readonly collection: string
  readonly workspaceId: string
  readonly limits: Pick<ColumnLimits, 'segmentRows' | 'mergeRows' | 'pageRows'>
}

/** Documents of one span of time, and the folder for their segments. */
export interface BuildPart extends WorkspaceRows {
  readonly span: TimeSpan
  readonly folder: string
}

/** Reads documents and makes segments, in this thread or in others. */
export interface SegmentBuilder {
  /** Parts that are built at the same time. */
  readonly width: number
  /** The newest span before an instant (null: of all) that has about as many rows as a segment. @throws StoreUnavailable */
  readonly spanBefore: (span: { readonly rows: WorkspaceRows; readonly to: number | null }) => Promise<TimeSpan>
  /** Makes the segments of a part; null where a document does not fit the columns. @throws StoreUnavailable, FilesUnavailable */
  readonly build: (part: BuildPart) => Promise<readonly Segment[] | null>
}

/** The instant of the document at a place in the order of instants; undefined where there are fewer. @throws StoreUnavailable */
async function instantAt(
  store: ReadStore,
  { spec: { time }, collection, workspaceId }: WorkspaceRows,
  { filter = {}, skip = 0, way = -1 }: { readonly filter?: Filter; readonly skip?: number; readonly way?: 1 | -1 },
): Promise<Scalar | undefined> {
  const page = { filter: { workspaceId, ...filter }, sort: { [time]: way }, skip, limit: 1 }
  return (await store.pluck(collection, time, page))[0]
}

/**
 * What there is to build: `few` rows, which need no segments; `many`; or `unfit` documents, one of which has no instant.
 * @throws StoreUnavailable
 */
export async function lookAtRows(store: ReadStore, rows: WorkspaceRows): Promise<'few' | 'many' | 'unfit'> {
  if ((await instantAt(store, rows, { skip: rows.limits.mergeRows - 1 })) === undefined) return 'few'
  // All others sort before numbers or after them.
  const ends = [await instantAt(store, rows, { way: 1 }), await instantAt(store, rows, { way: -1 })]
  return ends.every((instant) => typeof instant === 'number') ? 'many' : 'unfit'
}

/** Builds in the calling thread, one part after the other, so that the rows of one segment are in memory. */
export function createSegmentBuilder(store: ReadStore, files: Files): SegmentBuilder {
  return {
    width: 1,
    async spanBefore({ rows, to }) {
      const filter = to === null ? {} : { [rows.spec.time]: { $lt: to } }
      const from = await instantAt(store, rows, { filter, skip: rows.limits.segmentRows - 1 })
      return { from: typeof from === 'number' ? from : null, to }
    },
    build: (part) => buildPart(store, files, part),
  }
}

/** Rows of one month as they are read. */
interface Month {
  readonly month: number
  /** Its instants (ms): from `begin` to before `end`. */
  readonly begin: number
  readonly end: number
  readonly buffer: RowBuffer
}

function createMonth(layout: Layout, instant: number): Month {
  const month = monthOf(instant)
  return { month, begin: monthStart(month), end: monthStart(month + 1), buffer: createRowBuffer(layout) }
}

async function buildPart(
  store: ReadStore,
  files: Files,
  { spec, collection, workspaceId, limits, span, folder }: BuildPart,
): Promise<readonly Segment[] | null> {
  const layout = layoutOf(spec)
  const read: RowRead = { store, layout, collection, workspaceId, pageRows: limits.pageRows }
  const segments: Segment[] = []
  let current: Month | null = null
  const write = async ({ month, buffer }: Month) =>
    void segments.push(...(await writeSegments(files, folder, month, buffer, limits.segmentRows)))

  for await (const page of readByTime(read, span)) {
    const instants = page.map((row) => row[VALUES_AT + layout.time])
    for (let begin = 0; begin < page.length; ) {
      const instant = instants[begin]
      if (typeof instant !== 'number') return null
      if (current && (instant < current.begin || instant >= current.end || current.buffer.rows >= limits.segmentRows)) {
        await write(current)
        current = null
      }
      current ??= createMonth(layout, instant)
      const { buffer, begin: first } = current
      const next = instants.findIndex((other, index) => index > begin && !(Number(other) >= first))
      const end = next < 0 ? page.length : next
      if (!putRows(buffer, addRows(buffer, end - begin), page, begin, end)) return null
      begin = end
    }
  }
  if (current) await write(current)
  return segments
}
