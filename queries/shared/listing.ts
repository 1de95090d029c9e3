import { PAGE } from '../../src/domain/shared/limits.ts'
import { pageQuery, skipOf, sortBy, sortDirection, totalPages } from '../../src/kernel/wire.ts'
import { contains, type Filter, type ReadStore } from '../../src/ports/read-store.ts'
import { type ProjectionOf, readPage } from './documents.ts'
import { cursorField, cursorText, type ListCursor, type ListPlace } from './list-cursor.ts'

/** Page and page size, for a list with one order. */
export const pageFields = pageQuery({ defaultSize: PAGE.default, maxSize: PAGE.max })

/** Page, sort and direction of a list, to be spread into its query. The first sort is the default. */
export function listQuery<const Values extends readonly [string, ...string[]]>(orders: Values) {
  return { ...pageFields, sort: sortBy(orders, orders[0]), dir: sortDirection }
}

/** The same, for a list with one order that can be read on by a cursor. */
export const cursorPageFields = { ...pageFields, cursor: cursorField() }

/** The same, for a list with several orders that can be read on by a cursor. */
export function cursorListQuery<const Values extends readonly [string, ...string[]]>(orders: Values) {
  return { ...listQuery(orders), cursor: cursorField(orders) }
}

/** The sorts that buyers, publishers, campaigns, targets and pools share. */
export const RECORD_SORTS = ['createdAt', 'updatedAt', 'name', 'status'] as const

interface PageQuery {
  readonly page: number
  readonly pageSize: number
  readonly sort: string
  readonly dir: string
}

/** A query with what its cursor says: the order, the number of the page and the place before it. Without a cursor, as it is. */
export function atCursor<Query extends { readonly cursor?: ListCursor | undefined }>(
  query: Query,
): Query & { readonly after: ListPlace | null } {
  return { ...query, ...query.cursor, after: query.cursor?.after ?? null }
}

/** The page options of the read store for a list's query. */
export function pageOptions({
  page,
  pageSize,
  sort,
  dir,
  after = null,
}: PageQuery & { readonly after?: ListPlace | null }) {
  const order = { [sort]: dir === 'asc' ? 1 : -1 } as const
  return { sort: order, skip: skipOf({ page, pageSize }), limit: pageSize, after }
}

/** The response of a paged list (Document 1, shared convention 4). */
export function pageResponse<Row>(
  data: Row[],
  { page, pageSize }: Pick<PageQuery, 'page' | 'pageSize'>,
  total: number,
) {
  return { data, page, pageSize, total, totalPages: totalPages(total, pageSize) }
}

/** The response of a paged list with the cursor of its next page. `next`: the place where that begins; null after the last page. */
export function cursorPageResponse<Row>(
  data: Row[],
  query: Pick<PageQuery, 'page' | 'pageSize'> & Partial<Pick<PageQuery, 'sort' | 'dir'>>,
  { total, next }: { readonly total: number; readonly next: ListPlace | null },
) {
  const { sort = '', dir = 'desc', page } = query
  const nextCursor = next && cursorText({ sort, dir, page: page + 1, after: next })
  return { ...pageResponse(data, query, total), nextCursor }
}

/** A page of a list that can be read on by a cursor, and the function that makes the response of the rows of its documents. */
export async function readCursorPage<Doc extends object>(
  views: ReadStore,
  projection: ProjectionOf<Doc>,
  filter: Filter,
  query: PageQuery & { readonly cursor?: ListCursor | undefined },
) {
  const asked = atCursor(query)
  const { docs, ...rest } = await readPage(views, projection, filter, pageOptions(asked))
  return { docs, respond: <Row>(rows: Row[]) => cursorPageResponse(rows, asked, rest) }
}

/** Records of a status; without one, all but those of the `hidden` status (Document 1, shared convention 6). */
export function statusFilter(status: string | undefined, hidden: string): Filter {
  return { status: status ?? { $ne: hidden } }
}

/** Records with the text in at least one of the fields; all records without a text. */
export function textFilter(text: string | undefined, fields: readonly string[]): Filter {
  return text ? { $or: fields.map((field) => ({ [field]: contains(text) })) } : {}
}
