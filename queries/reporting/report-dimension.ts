import { bookRows } from '../../projections/reporting/book-rows.ts'
import { poolNameAt, poolNames } from '../../projections/reporting/pool-names.ts'
import { bookRowsOf, type CallBooks } from '../../src/domain/reporting/book-rows.ts'
import {
  CODE_DIMENSIONS,
  type Dimension,
  isCodeDimension,
  isRecordDimension,
  isTimeDimension,
  RECORD_DIMENSIONS,
  tagOf,
} from '../../src/domain/reporting/dimensions.ts'
import { timeBuckets } from '../../src/domain/reporting/time-buckets.ts'
import { yieldToEventLoop } from '../../src/kernel/async/yield-to-event-loop.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore, Scalar } from '../../src/ports/read-store.ts'
import { readMany } from '../shared/documents.ts'
import { valueOfCall } from './book-selection.ts'
import { booksOf } from './read-books.ts'
import { type BookGrouping, type BookQuestion, rowFilter } from './sum-books.ts'

/** How a dimension is grouped by, and how its groups read. */
export interface ReportDimension {
  readonly grouping: BookGrouping
  readonly keyOf: (value: Scalar) => string | null
  readonly labelOf: (value: Scalar) => string | null
  /** Whether the order of its groups is that of the values rather than of the keys. */
  readonly isOrdered: boolean
}

type Rows = Omit<BookQuestion, 'groupBy'>

const textOf = (value: Scalar): string | null => (value === null ? null : String(value))

/** The newest name of each id, from pairs with the start of the newest call that has them. */
function newestNames(
  found: Iterable<readonly [id: Scalar, name: Scalar, newest: number]>,
): ReadonlyMap<Scalar, string | null> {
  const names = new Map<Scalar, { readonly name: string | null; readonly newest: number }>()
  for (const [id, name, newest] of found) {
    const known = names.get(id)
    const isNewer =
      known === undefined || newest > known.newest || (newest === known.newest && String(name) > String(known.name))
    if (isNewer) names.set(id, { name: textOf(name), newest })
  }
  return new Map([...names].map(([id, { name }]) => [id, name]))
}

/** The calls of a window, whatever else a report asks of them: its names do not depend on its filters. */
const allIn = ({ selection: { workspaceId, fromMs, toMs }, asOfMs }: Rows): Rows => ({
  selection: { workspaceId, fromMs, toMs, ofCall: {}, ofRow: {}, ofTags: [], ofCaller: null },
  asOfMs,
})

/** Whether a call was in the books by an instant (ms since the epoch). */
function isKnown(books: CallBooks, asOfMs: number): boolean {
  const [first] = bookRowsOf(books)
  return first !== undefined && first.recordedMs <= asOfMs
}

/** Names by id: of each the one that the newest call of the window has, as far as calls were recorded by then. */
export async function namesIn(
  views: ReadStore,
  rows: Rows,
  path: string,
  name: string,
): Promise<ReadonlyMap<Scalar, string | null>> {
  const all = allIn(rows)
  const groups = await views.sumRows(collectionOf(bookRows), {
    filter: rowFilter(all),
    groupBy: [{ path }, { path: name }],
    fields: [],
    newest: 'startedMs',
  })
  if (groups) return newestNames(groups.map(({ key: [id = null, called = null], newest }) => [id, called, newest ?? 0]))
  const pairs: (readonly [Scalar, Scalar, number])[] = []
  const seen = new Set<Scalar>()
  for await (const page of booksOf(views, all.selection)) {
    for (const books of page) {
      if (!isKnown(books, rows.asOfMs)) continue
      const id = valueOfCall(books, path)
      // The newest calls come first; those of one instant are compared.
      if (seen.has(id) && pairs.findLast(([known]) => known === id)?.[2] !== books.startedMs) continue
      seen.add(id)
      pairs.push([id, valueOfCall(books, name), books.startedMs])
    }
    await yieldToEventLoop()
  }
  return newestNames(pairs)
}

async function poolNamesAt(
  views: ReadStore,
  { selection: { workspaceId }, asOfMs }: Rows,
  ids: readonly Scalar[],
): Promise<ReadonlyMap<Scalar, string | null>> {
  const found = await readMany(
    views,
    poolNames,
    ids.map((id) => (typeof id === 'string' ? id : null)),
  )
  const own = [...found].filter(([, pool]) => pool.workspaceId === workspaceId)
  return new Map(own.map(([id, pool]) => [id, poolNameAt(pool, asOfMs)]))
}

/** A dimension before its groups are known; `withNames` completes it for the values of its groups. */
interface OpenDimension {
  readonly grouping: BookGrouping
  readonly withNames: (views: ReadStore, rows: Rows, values: readonly Scalar[]) => Promise<ReportDimension>
}

function withoutNames(dimension: ReportDimension): OpenDimension {
  return { grouping: dimension.grouping, withNames: async () => dimension }
}

/** A dimension of a report in a window of a zone. */
export function openDimension(dimension: Dimension, zone: string, fromMs: number, toMs: number): OpenDimension {
  const tag = tagOf(dimension)
  if (tag !== null) return withoutNames({ grouping: { tag }, keyOf: textOf, labelOf: textOf, isOrdered: false })
  if (isTimeDimension(dimension)) {
    const { bucketOf, keyOf, labelOf } = timeBuckets(dimension, zone, fromMs, toMs)
    const grouping = { path: 'quarter', as: (quarter: Scalar) => bucketOf(Number(quarter)) }
    const [key, label] = [(bucket: Scalar) => keyOf(Number(bucket)), (bucket: Scalar) => labelOf(Number(bucket))]
    return withoutNames({ grouping, keyOf: key, labelOf: label, isOrdered: true })
  }
  if (isCodeDimension(dimension)) {
    const { path, label } = CODE_DIMENSIONS[dimension]
    const labelOf = (code: Scalar) => (code === null ? null : label(String(code)))
    return withoutNames({ grouping: { path }, keyOf: textOf, labelOf, isOrdered: false })
  }
  if (!isRecordDimension(dimension)) throw new TypeError(`${dimension} is no dimension.`)
  const { path, name } = RECORD_DIMENSIONS[dimension]
  return {
    grouping: { path },
    async withNames(views, rows, values) {
      const names = await (name === null ? poolNamesAt(views, rows, values) : namesIn(views, rows, path, name))
      return { grouping: { path }, keyOf: textOf, labelOf: (value) => names.get(value) ?? null, isOrdered: false }
    },
  }
}
