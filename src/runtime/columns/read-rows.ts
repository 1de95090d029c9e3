import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { Filter, ReadStore, Scalar } from '../../ports/read-store.ts'
import type { Layout } from './column-spec.ts'

/** What is read of a document: where the reading stands, its key, then the columns in order. */
export type ReadRow = readonly (Scalar | undefined)[]

/** Places in a row that was read. */
export const KEY_AT = 1
export const VALUES_AT = 2

/** What is read, and how much at once. */
export interface RowRead {
  readonly store: ReadStore
  readonly layout: Layout
  readonly collection: string
  readonly workspaceId: string
  readonly pageRows: number
}

const pathsOf = ({ spec, paths }: Layout, first: string) => [first, spec.key, ...paths]

/** Pages of all documents of a workspace, newest instants first. Other work of the thread runs in between. @throws StoreUnavailable */
export async function* readByTime({
  store,
  layout,
  collection,
  workspaceId,
  pageRows,
}: RowRead): AsyncGenerator<readonly ReadRow[]> {
  const { spec, time } = layout
  const paths = pathsOf(layout, '_id')
  let after: Filter = {}
  for (;;) {
    const filter = { workspaceId, ...after }
    const page = await store.select(collection, paths, { filter, sort: { [spec.time]: -1 }, limit: pageRows })
    yield page
    if (page.length < pageRows) return
    const last = page.at(-1)
    const [id, at] = [last?.[0], last?.[VALUES_AT + time]]
    // An instant is never missing: whoever reads the page stops at a document without one.
    if (typeof id !== 'string' || typeof at !== 'number') return
    // By id among equal instants, so that a page is never larger, and a document that changes meanwhile moves no other.
    after = { [spec.time]: { $lte: at }, $or: [{ [spec.time]: { $lt: at } }, { _id: { $gt: id } }] }
    await yieldToEventLoop()
  }
}

/** Pages of the documents of a workspace that were folded after a position, in the order of positions. @throws StoreUnavailable */
export async function* readByPosition(
  { store, layout, collection, workspaceId, pageRows }: RowRead,
  position: number,
): AsyncGenerator<readonly ReadRow[]> {
  const paths = pathsOf(layout, '_position')
  let after = position
  let limit = pageRows
  for (;;) {
    const filter = { workspaceId, _position: { $gt: after } }
    const page = await store.select(collection, paths, { filter, sort: { _position: 1 }, limit })
    yield page
    if (page.length < limit) return
    // One event may touch several documents: the next page may continue the last position of this one.
    const end = Number(page.at(-1)?.[0])
    const whole = page.findLast(([at]) => Number(at) < end)
    if (whole) after = Number(whole[0])
    else limit *= 2
    await yieldToEventLoop()
  }
}
