import { PAGE } from '../../src/domain/shared/limits.ts'
import { pageQuery, skipOf, sortBy, sortDirection, totalPages } from '../../src/kernel/wire.ts'
import { contains, type Filter, type ReadStore, type Sort } from '../../src/ports/read-store.ts'
import { type ListPage, type ProjectionOf, readPage } from './documents.ts'
import { cursorField, cursorText, type ListCursor, type ListPlace } from './list-cursor.ts'

/**
 * Page, page size and cursor of a list with one order, to be spread into its query. Its cursors hold its name: no other list reads
 * them.
 */
export function pageFields(list: string, defaultSize: number = PAGE.default) {
  return { ...pageQuery({ defaultSize, maxSize: PAGE.max }), cursor: cursorField(list) }
}

/** The same for a list with several orders, with its sort and direction. The first sort is the default. */
export function listQuery<const Values extends readonly [string, ...string[]]>(list: string, orders: Values) {
  const { cursor: _one, ...page } = pageFields(list)
  return { ...page, sort: sortBy(orders, orders[0]), dir: sortDirection, cursor: cursorField(list, orders) }
}

/** The sorts that buyers, publishers, campaigns, targets and pools share. */
export const RECORD_SORTS = ['createdAt', 'updatedAt', 'name', 'status'] as const

interface PageQuery {
  readonly page: number
  readonly pageSize: number
  readonly sort?: string
  readonly dir?: string
  readonly cursor: ListCursor
}

type AtCursor = Required<PageQuery> & { readonly after: ListPlace | null }

/** A query with what its cursor says: the order, the number of the page and the place before it. Without a cursor, as it is. */
export function atCursor<Query extends PageQuery>(query: Query): Query & AtCursor {
  const { start } = query.cursor
  return { sort: '', dir: 'desc', ...query, ...start, after: start?.after ?? null }
}

/** The order of a list, by what its query asks for. */
type OrderOf = (sort: string, way: 1 | -1) => Sort

/** The page options of the read store for a list's query: the documents sorted by the field, unless their order is another. */
export function pageOptions(asked: AtCursor, orderOf: OrderOf = (sort, way) => ({ [sort]: way })): ListPage {
  const { sort, dir, pageSize, after } = asked
  return { sort: orderOf(sort, dir === 'asc' ? 1 : -1), skip: skipOf(asked), limit: pageSize, after }
}

/** The response of a paged list (Document 1, shared convention 4) with the cursor of its next page. `next`: the place where that begins; null after the last page. */
export function pageResponse<Row>(
  data: Row[],
  { page, pageSize, sort, dir, cursor }: AtCursor,
  { total, next }: { readonly total: number; readonly next: ListPlace | null },
) {
  const nextCursor = next && cursorText(cursor, { sort, dir, page: page + 1, after: next })
  return { data, page, pageSize, total, totalPages: totalPages(total, pageSize), nextCursor }
}

/** A page of a list, and the function that makes the response of the rows of its documents. */
export async function readListPage<Doc extends object>(
  views: ReadStore,
  projection: ProjectionOf<Doc>,
  filter: Filter,
  query: PageQuery,
  orderOf?: OrderOf,
) {
  const asked = atCursor(query)
  const { docs, ...rest } = await readPage(views, projection, filter, pageOptions(asked, orderOf))
  return { docs, respond: <Row>(rows: Row[]) => pageResponse(rows, asked, rest) }
}

/** Records of a status; without one, all but those of the `hidden` status (Document 1, shared convention 6). */
export function statusFilter(status: string | undefined, hidden: string): Filter {
  return { status: status ?? { $ne: hidden } }
}

/** Records with the text in at least one of the fields; all records without a text. */
export function textFilter(text: string | undefined, fields: readonly string[]): Filter {
  return text ? { $or: fields.map((field) => ({ [field]: contains(text) })) } : {}
}
