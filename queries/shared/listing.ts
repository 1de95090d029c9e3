import { PAGE } from '../../src/domain/shared/limits.ts'
import { pageQuery, skipOf, sortBy, sortDirection, totalPages } from '../../src/kernel/wire.ts'
import { contains, type Filter } from '../../src/ports/read-store.ts'

/** Page and page size alone, of a list that has one order. */
export const pageFields = pageQuery({ defaultSize: PAGE.default, maxSize: PAGE.max })

/** Page, order and direction of a list, to be spread into its query; the first value is the default order. */
export function listQuery<const Values extends readonly [string, ...string[]]>(orders: Values) {
  return { ...pageFields, sort: sortBy(orders, orders[0]), dir: sortDirection }
}

/** The orders that buyers, publishers, campaigns and targets share. */
export const RECORD_SORTS = ['createdAt', 'updatedAt', 'name', 'status'] as const

interface PageQuery {
  readonly page: number
  readonly pageSize: number
  readonly sort: string
  readonly dir: string
}

/** What the read store is asked for. */
export function pageOptions({ page, pageSize, sort, dir }: PageQuery) {
  return { sort: { [sort]: dir === 'asc' ? 1 : -1 } as const, skip: skipOf({ page, pageSize }), limit: pageSize }
}

/** The answer of a paged list (Document 1, shared convention 4). */
export function pageResponse<Row>(
  data: Row[],
  { page, pageSize }: Pick<PageQuery, 'page' | 'pageSize'>,
  total: number,
) {
  return { data, page, pageSize, total, totalPages: totalPages(total, pageSize) }
}

/** Records of a status; those put away are left out unless the status names them. */
export function statusFilter(status: string | undefined, away: string): Filter {
  return { status: status ?? { $ne: away } }
}

/** Records one of whose fields contains the text; all of them without a text. */
export function textFilter(text: string | undefined, fields: readonly string[]): Filter {
  return text ? { $or: fields.map((field) => ({ [field]: contains(text) })) } : {}
}
