import { type WithId, withId } from '../../src/kernel/document.ts'
import { type AnyProjection, collectionOf, type Projection } from '../../src/kernel/projection.ts'
import { WrittenRow } from '../../src/kernel/written-row.ts'
import type { Derivation, Filter, Page, ReadStore, Sort, Doc as StoredDoc } from '../../src/ports/read-store.ts'
import { cutPage, type ListPlace, placeAfter, rangesAfter } from './list-cursor.ts'

/** The document type of a projection. */
export type DocOf<P> = P extends Projection<infer Doc, infer _S> ? Doc : never

/** A projection of a document type, as its readers see it. */
// biome-ignore lint/suspicious/noExplicitAny: which events a projection reduces does not matter to its readers.
export type ProjectionOf<Doc> = Projection<Doc, any>

/** A workspace's document by id; null when there is none, or it belongs to another workspace. */
export async function readOne<Doc extends { readonly workspaceId: string }>(
  views: Pick<ReadStore, 'get'>,
  projection: ProjectionOf<Doc>,
  workspaceId: string,
  id: string,
): Promise<WithId<Doc> | null> {
  const stored = await views.get(collectionOf(projection), id)
  const found = stored && withId<Doc>(stored)
  return found?.workspaceId === workspaceId ? found : null
}

/** The existing documents of some ids, by id. Ids may repeat or be null. */
export async function readMany<Doc extends object>(
  views: Pick<ReadStore, 'getMany'>,
  projection: ProjectionOf<Doc>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, WithId<Doc>>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  const stored = wanted.length === 0 ? [] : await views.getMany(collectionOf(projection), wanted)
  return new Map(stored.map((found) => [found.id, withId<Doc>(found)]))
}

/** The documents that rows refer to, by id; `idOf` gives a row's reference, which may be null. */
export function readReferenced<Row, Doc extends object>(
  views: Pick<ReadStore, 'getMany'>,
  projection: ProjectionOf<Doc>,
  rows: Iterable<Row>,
  idOf: (row: Row) => string | null,
): Promise<ReadonlyMap<string, WithId<Doc>>> {
  return readMany(views, projection, Array.from(rows, idOf))
}

/** The number of documents that match a filter, by the value of a field; 0 for a value without documents. */
export async function countBy(
  views: Pick<ReadStore, 'sum'>,
  projection: AnyProjection,
  filter: Filter,
  field: string,
): Promise<(value: string) => number> {
  const groups = await views.sum(collectionOf(projection), filter, [field], [])
  const counts = new Map(groups.map(({ key: [value], count }) => [value, count]))
  return (value) => counts.get(value) ?? 0
}

/** The documents that match a page's filter, sorted. */
export async function readAll<Doc extends object>(
  views: Pick<ReadStore, 'find'>,
  projection: ProjectionOf<Doc>,
  page: Page,
): Promise<readonly WithId<Doc>[]> {
  const stored = await views.find(collectionOf(projection), page)
  return stored.map((found) => withId<Doc>(found))
}

/** What a page of a list is read by: the place that it begins after, or else the documents before it are skipped. */
export interface ListPage {
  readonly sort: Sort
  readonly skip: number
  readonly limit: number
  readonly after?: ListPlace | null
}

/** One page of what a filter finds, and the place where the next page begins; null after the last one. */
async function findSlice<Found>(
  find: (page: Page) => Promise<readonly Found[]>,
  filter: Filter,
  { sort, skip, limit, after = null }: ListPage,
  placeOf: (last: Found) => ListPlace,
): Promise<{ readonly page: readonly Found[]; readonly next: ListPlace | null }> {
  // One more than the page has tells whether another page follows.
  const wanted = limit + 1
  let found: readonly Found[] = []
  if (after === null) found = await find({ filter, sort, skip, limit: wanted })
  else
    for (const range of rangesAfter(sort, after)) {
      if (found.length >= wanted) break
      const more = await find({ filter: { $and: [range, filter] }, sort, limit: wanted - found.length })
      found = [...found, ...more]
    }
  return cutPage(found, limit, placeOf)
}

/** One page of the documents that match a filter, and the place where the next page begins; null after the last one. */
export async function readSlice<Doc extends object>(
  views: Pick<ReadStore, 'find'>,
  projection: ProjectionOf<Doc>,
  filter: Filter,
  listPage: ListPage,
): Promise<{ readonly docs: readonly WithId<Doc>[]; readonly next: ListPlace | null }> {
  const find = (page: Page) => views.find(collectionOf(projection), page)
  const { page, next } = await findSlice(find, filter, listPage, (last) => placeAfter(listPage.sort, last))
  return { docs: page.map((each) => withId<Doc>(each)), next }
}

/** A written row of a list, and the values that tell the place after it. */
interface ListedRow<Row> {
  readonly row: WrittenRow<Row>
  readonly sorted: StoredDoc
}

/** How a list's rows are made, each of its document alone, so that a store may cache them instead of the documents. */
export type ListRows<Row> = Derivation<ListedRow<Row>>

/** Defines the rows of a list, once for the list. `sorts`: the paths that it may be sorted by. */
export function listRows<Doc extends object, Row>(
  rowOf: (doc: WithId<Doc>) => Row,
  sorts: readonly string[],
): ListRows<Row> {
  return {
    of: (stored) => ({
      row: new WrittenRow(rowOf(withId<Doc>(stored))),
      sorted: Object.fromEntries(sorts.map((path) => [path, stored.doc[path]])),
    }),
    bytesOf: ({ row }) => row.bytes.byteLength,
  }
}

/** The rows of one page of the documents that match a filter, and the place where the next page begins; null after the last one. */
export async function readRows<Row>(
  views: Pick<ReadStore, 'findDerived'>,
  projection: AnyProjection,
  filter: Filter,
  listPage: ListPage,
  rows: ListRows<Row>,
): Promise<{ readonly rows: WrittenRow<Row>[]; readonly next: ListPlace | null }> {
  const find = (page: Page) => views.findDerived(collectionOf(projection), page, rows)
  const { page, next } = await findSlice(find, filter, listPage, ({ id, position, value }) =>
    placeAfter(listPage.sort, { id, position, doc: value.sorted }),
  )
  return { rows: page.map(({ value }) => value.row), next }
}

/** One page of the documents that match a filter, the total number of matches, and the place where the next page begins. */
export async function readPage<Doc extends object>(
  views: ReadStore,
  projection: ProjectionOf<Doc>,
  filter: Filter,
  page: ListPage,
): Promise<{ readonly docs: readonly WithId<Doc>[]; readonly total: number; readonly next: ListPlace | null }> {
  const [slice, total] = await Promise.all([
    readSlice(views, projection, filter, page),
    views.count(collectionOf(projection), filter),
  ])
  return { ...slice, total }
}
