import { PAGE } from '../../src/domain/shared/limits.ts'
import { pageQuery, skipOf, sortBy, sortDirection, totalPages } from '../../src/kernel/wire.ts'
import { contains, type Filter } from '../../src/ports/read-store.ts'

/** Page and page size, for a list with one order. */
export const pageFields = pageQuery({ defaultSize: PAGE.default, maxSize: PAGE.max })

/** Page, sort and direction of a list, to be spread into its query. The first sort is the default. */
export function listQuery<const Values extends readonly [string, ...string[]]>(orders: Values) {
  return { ...pageFields, sort: sortBy(orders, orders[0]), dir: sortDirection }
}

/** The sorts that buyers, publishers, campaigns, targets and pools share. */
export const RECORD_SORTS = ['createdAt', 'updatedAt', 'name', 'status'] as const

interface PageQuery {
  readonly page: number
  readonly pageSize: number
  readonly sort: string
  readonly dir: string
}

/** The page options of the read store for a list's query. */
export function pageOptions({ page, pageSize, sort, dir }: PageQuery) {
  return { sort: { [sort]: dir === 'asc' ? 1 : -1 } as const, skip: skipOf({ page, pageSize }), limit: pageSize }
}

/** The response of a paged list (Document 1, shared convention 4). */
export function pageResponse<Row>(
  data: Row[],
  { page, pageSize }: Pick<PageQuery, 'page' | 'pageSize'>,
  total: number,
) {
  return { data, page, pageSize, total, totalPages: totalPages(total, pageSize) }
}

/** Records of a status; without one, all but those of the `hidden` status (Document 1, shared convention 6). */
export function statusFilter(status: string | undefined, hidden: string): Filter {
  return { status: status ?? { $ne: hidden } }
}

/** Records with the text in at least one of the fields; all records without a text. */
export function textFilter(text: string | undefined, fields: readonly string[]): Filter {
  return text ? { $or: fields.map((field) => ({ [field]: contains(text) })) } : {}
}
