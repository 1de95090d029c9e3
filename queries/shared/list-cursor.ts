import { z } from 'zod'
import { PAGE } from '../../src/domain/shared/limits.ts'
import { type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { sortDirections } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter, Scalar, Sort, StoredDocument } from '../../src/ports/read-store.ts'

/** A place in an order: just after a document, which is known by the values that it is sorted by, and its id. */
export interface ListPlace {
  readonly id: string
  readonly values: readonly Scalar[]
}

/** Where a list goes on: its order, the number of the page, and the place that the page begins after. */
interface ListStart {
  readonly sort: string
  readonly dir: string
  readonly page: number
  readonly after: ListPlace
}

/** The cursor of a list, which no other list reads. Without a start, the request names none. */
export interface ListCursor {
  readonly list: string
  readonly start: ListStart | null
  /** Hides the values of a place from who reads the list. */
  readonly seal?: (values: ListPlace['values']) => ListPlace['values']
}

const scalars = z.array(z.union([z.string(), z.number(), z.null()]))

/** As a text holds it: list, sort, direction, page, id and values. */
const stored = z.tuple([z.string(), z.string(), z.enum(sortDirections), z.int().min(1), z.string()], scalars.element)

/** The cursor as a text for a query string. */
export function cursorText({ list, seal = (values) => values }: ListCursor, start: ListStart): string {
  const { sort, dir, page, after } = start
  return Buffer.from(JSON.stringify([list, sort, dir, page, after.id, ...seal(after.values)])).toString('base64url')
}

function parseCursor(text: string) {
  try {
    const [list, sort, dir, page, id, ...values] = stored.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return { list, start: { sort, dir, page, after: { id, values } } }
  } catch {
    return null
  }
}

/** What a refusal says of a cursor that is none of its list. */
const error = 'must be the nextCursor of a page of this list'

/**
 * The `cursor` of a list that has these sorts; one empty name for a list with one order. It is not sealed, since readers may see
 * what they sort by; where they may not, `openCursor` seals it.
 */
export function cursorField(list: string, sorts: readonly string[] = ['']) {
  return z
    .string({ error })
    .max(PAGE.cursor, { error })
    .optional()
    .transform((text, { addIssue }): ListCursor => {
      if (text === undefined) return { list, start: null }
      const cursor = parseCursor(text)
      if (cursor?.list === list && sorts.includes(cursor.start.sort)) return cursor
      addIssue(error)
      return z.NEVER
    })
    .meta({ type: 'string', maxLength: PAGE.cursor })
}

/** A query whose cursor, and that of its answer, hide the values of the place; refused unless they were sealed for this list and workspace. */
export function openCursor<Query extends { readonly cursor: ListCursor }>(
  query: Query,
  secrets: QueryPorts['secrets'],
  workspaceId: string,
): Query | Refusal<'validation-error'> {
  const { list, start } = query.cursor
  const own = { purpose: 'list-cursor', path: [workspaceId, list] }
  const seal = (values: ListPlace['values']) => [secrets.seal(JSON.stringify(values), own)]
  const unseal = ([sealed]: ListPlace['values']) => scalars.parse(JSON.parse(secrets.unseal(String(sealed), own)))
  try {
    const opened = start && { ...start, after: { ...start.after, values: unseal(start.after.values) } }
    return { ...query, cursor: { list, start: opened, seal } }
  } catch {
    return refuse('validation-error', { cursor: error })
  }
}

/** The page at the beginning of what was found, and the place where the next one begins; null if no more was found than a page has. */
export function cutPage<Row>(found: readonly Row[], limit: number, placeOf: (row: Row) => ListPlace) {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return { page, next: last && found.length > limit ? placeOf(last) : null }
}

/** The place just after a document. */
export function placeAfter(sort: Sort, { id, position, doc }: StoredDocument): ListPlace {
  const values = Object.keys(sort).map((path) => {
    const value = path === '_position' ? position : doc[path]
    return typeof value === 'string' || typeof value === 'number' ? value : null
  })
  return { id, values }
}

/**
 * The filters of what follows a place in an order: ranges of that order, one after the other, each of which an index can seek. Null
 * sorts before any value; ties are broken by the id, ascending.
 */
export function rangesAfter(sort: Sort, { id, values }: ListPlace): readonly Filter[] {
  const keys = Object.entries(sort).map(([path, way], at) => ({ path, way, value: values[at] ?? null }))
  const equalTo = (depth: number): Filter =>
    Object.fromEntries(keys.slice(0, depth).map(({ path, value }) => [path, value]))
  const further = keys.map(({ path, way, value }, depth) =>
    valuesAfter(value, way).map((condition) => ({ ...equalTo(depth), [path]: condition })),
  )
  return [{ ...equalTo(keys.length), _id: { $gt: id } }, ...further.toReversed().flat()]
}

function valuesAfter(value: Scalar, way: 1 | -1): readonly Filter[string][] {
  if (value === null || typeof value === 'boolean') return way === 1 ? [{ $ne: null }] : []
  return way === 1 ? [{ $gt: value }] : [{ $lt: value }, null]
}
