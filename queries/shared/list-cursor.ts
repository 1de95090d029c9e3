import { z } from 'zod'
import { PAGE } from '../../src/domain/shared/limits.ts'
import { sortDirections } from '../../src/kernel/wire.ts'
import type { Filter, Scalar, Sort, StoredDocument } from '../../src/ports/read-store.ts'

/** A place in an order: just after a document, which is known by the values that it is sorted by, and its id. */
export interface ListPlace {
  readonly id: string
  readonly values: readonly Scalar[]
}

/** Where a list goes on: its order, the number of the page, and the place that the page begins after. */
export interface ListCursor {
  readonly sort: string
  readonly dir: string
  readonly page: number
  readonly after: ListPlace
}

/** As a text holds it: sort, direction, page, id and values. */
const stored = z.tuple(
  [z.string(), z.enum(sortDirections), z.int().min(1), z.string()],
  z.union([z.string(), z.number(), z.null()]),
)

/** The cursor as a text for a query string. */
export function cursorText({ sort, dir, page, after: { id, values } }: ListCursor): string {
  return Buffer.from(JSON.stringify([sort, dir, page, id, ...values])).toString('base64url')
}

function parseCursor(text: string): ListCursor | null {
  try {
    const [sort, dir, page, id, ...values] = stored.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return { sort, dir, page, after: { id, values } }
  } catch {
    return null
  }
}

/** What a refusal says of a cursor that is none of its list. */
export const CURSOR_ERROR = 'must be the nextCursor of a page of this list'

/** The `cursor` of a list that has these sorts; one empty name for a list with one order. It is not sealed: a reader has seen the row. */
export function cursorField(sorts: readonly string[] = ['']) {
  const error = CURSOR_ERROR
  return z
    .string({ error })
    .max(PAGE.cursor, { error })
    .transform((text, { addIssue }) => {
      const cursor = parseCursor(text)
      if (cursor !== null && sorts.includes(cursor.sort)) return cursor
      addIssue(error)
      return z.NEVER
    })
    .optional()
    .meta({ type: 'string', maxLength: PAGE.cursor })
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
