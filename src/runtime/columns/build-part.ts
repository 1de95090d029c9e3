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

/** A wish for a span: of about `count` rows, before the instant `to`. */
export interface SpanRequest {
  readonly rows: WorkspaceRows
  readonly to: number | null
  readonly count: number
}

/** Reads documents and makes segments, in this thread or in others. */
export interface SegmentBuilder {
  /** Parts that are built at the same time. */
  readonly width: number
  /** The newest span before an instant (null: of all) that has about so many rows. @throws StoreUnavailable */
  readonly spanBefore: (span: SpanRequest) => Promise<TimeSpan>
  /** Makes the segments of a part; null where a document does not fit the columns. @throws StoreUnavailable, FilesUnavailable */
  readonly build: (part: BuildPart) => Promise<readonly Segment[] | null>
}

/** The instant of the document at a place in the order of instants; undefined where there are fewer. @throws StoreUnavailable */
async function instantAt(
  store: ReadStore,
  { spec: { time }, collection, workspaceId }: WorkspaceRows,
  { filter = {}, skip }: { readonly filter?: Filter; readonly skip: number },
): Promise<Scalar | undefined> {
  const page = { filter: { workspaceId, ...filter }, sort: { [time]: -1 } as const, skip, limit: 1 }
  return (await store.pluck(collection, time, page))[0]
}

/** What there is to build: `few` rows, which need no segments; about so many; or `unfit` documents, one of which has no instant. */
export type FoundRows = 'few' | 'unfit' | { readonly about: number }

/** Looks how many rows there are: to count them would take as long as to read a part of them. @throws StoreUnavailable */
export async function lookAtRows(store: ReadStore, rows: WorkspaceRows): Promise<FoundRows> {
  const { spec, collection, workspaceId, limits } = rows
  // Documents that hold rows are few only where all of their rows are.
  const few = Math.max(1, Math.floor(limits.mergeRows / (spec.rows?.perDocument ?? 1)))
  if ((await instantAt(store, rows, { skip: few - 1 })) === undefined) return 'few'
  const endOf = async (way: 1 | -1) =>
    (
      await store.select(collection, [spec.time, spec.key], {
        filter: { workspaceId },
        sort: { [spec.time]: way },
        limit: 1,
      })
    )[0] ?? []
  // All other instants sort before numbers or after them.
  const [oldest, newest] = [await endOf(1), await endOf(-1)]
  if (typeof oldest[0] !== 'number' || typeof newest[0] !== 'number') return 'unfit'
  // Keys are mostly given in turn.
  return { about: Math.abs(Number(newest[1]) - Number(oldest[1])) + 1 }
}

/** Builds in the calling thread, one part after the other, so that the rows of one segment are in memory. */
export function createSegmentBuilder(store: ReadStore, files: Files): SegmentBuilder {
  return {
    width: 1,
    async spanBefore({ rows, to, count }) {
      const filter = to === null ? {} : { [rows.spec.time]: { $lt: to } }
      const from = await instantAt(store, rows, { filter, skip: count - 1 })
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
