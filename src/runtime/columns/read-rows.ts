import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { Conditions, Filter, ReadStore, Scalar } from '../../ports/read-store.ts'
import type { Layout } from './column-spec.ts'

/** What is read of a document: its key, the columns in order, and where the reading stands if no column says so. */
export type ReadRow = readonly (Scalar | undefined)[]

/** Places in a row that was read. */
export const KEY_AT = 0
export const VALUES_AT = 1

/** What is read, and how much at once. */
export interface RowRead {
  readonly store: ReadStore
  readonly layout: Layout
  readonly collection: string
  readonly workspaceId: string
  readonly pageRows: number
}

/** Instants from `from` to before `to` (ms since the epoch); null: no bound. */
export interface TimeSpan {
  readonly from: number | null
  readonly to: number | null
}

const WHOLE: TimeSpan = { from: null, to: null }

const pathsOf = ({ spec, paths }: Layout, ...more: readonly string[]) => [spec.key, ...paths, ...more]

/** The row of a document that no column can hold: it has no key. */
const UNREADABLE: ReadRow = [undefined]

const isRows = (value: unknown): value is readonly (readonly Scalar[])[] =>
  Array.isArray(value) && value.every(Array.isArray)

/** The lists of a text. Null where it is no such text. */
function parseRows(text: Scalar | undefined): readonly (readonly Scalar[])[] | null {
  if (typeof text !== 'string') return null
  try {
    const rows: unknown = JSON.parse(`[${text}]`)
    return isRows(rows) ? rows : null
  } catch {
    return null
  }
}

/** The rows of a page of documents: each document is one, or holds several. */
function rowsOf({ rows }: Layout, documents: readonly ReadRow[]): readonly ReadRow[] {
  if (!rows) return documents
  const { perDocument, documentColumns } = rows
  const textAt = VALUES_AT + documentColumns
  return documents.flatMap((document) => {
    const own = parseRows(document[textAt])
    const key = document[KEY_AT]
    if (!own || typeof key !== 'number' || own.length >= perDocument) return [UNREADABLE]
    const values = document.slice(VALUES_AT, textAt)
    return own.map((row, place): ReadRow => [key * perDocument + place, ...values, ...row])
  })
}

/** Pages of the documents of a workspace in a span, newest instants first. Other work of the thread runs in between. @throws StoreUnavailable */
export async function* readByTime(read: RowRead, { from, to }: TimeSpan = WHOLE): AsyncGenerator<readonly ReadRow[]> {
  const { store, layout, collection, workspaceId, pageRows } = read
  const { time } = layout.spec
  const paths = pathsOf(layout)
  const instantAt = VALUES_AT + layout.time
  const lower = from === null ? {} : { $gte: from }
  let upper: Conditions = to === null ? {} : { $lt: to }
  for (;;) {
    // An unbounded page also has documents whose time is not a number; the caller rejects them.
    const between = { ...lower, ...upper }
    const filter = { workspaceId, ...(Object.keys(between).length === 0 ? {} : { [time]: between }) }
    const page = await store.select(collection, paths, { filter, sort: { [time]: -1 }, limit: pageRows })
    const last = page.at(-1)?.[instantAt]
    if (page.length < pageRows || typeof last !== 'number') {
      yield rowsOf(layout, page)
      return
    }
    // Ids are long and seldom needed. The last instant may have more documents, so the next page starts with it.
    const whole = page.findLastIndex((row) => row[instantAt] !== last) + 1
    if (whole > 0) yield rowsOf(layout, page.slice(0, whole))
    else yield* readInstant(read, last)
    upper = whole > 0 ? { $lte: last } : { $lt: last }
    await yieldToEventLoop()
  }
}

/** Pages of the documents of one instant, by id: they may be more than a page. */
async function* readInstant(read: RowRead, instant: number): AsyncGenerator<readonly ReadRow[]> {
  const { store, layout, collection, workspaceId, pageRows } = read
  const { time } = layout.spec
  const paths = pathsOf(layout, '_id')
  for (let after: Filter = {}; ; ) {
    const filter = { workspaceId, [time]: instant, ...after }
    const page = await store.select(collection, paths, { filter, sort: { [time]: -1 }, limit: pageRows })
    yield rowsOf(layout, page)
    const id = page.at(-1)?.at(-1)
    if (page.length < pageRows || typeof id !== 'string') return
    after = { _id: { $gt: id } }
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
    yield rowsOf(layout, page)
    if (page.length < limit) return
    // One event may touch several documents: the next page may continue the last position of this one.
    const end = Number(page.at(-1)?.at(-1))
    const whole = page.findLast((row) => Number(row.at(-1)) < end)
    if (whole) after = Number(whole.at(-1))
    else limit *= 2
    await yieldToEventLoop()
  }
}
