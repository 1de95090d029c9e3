import type { Document, Filter as ServerFilter } from 'mongodb'
import type { Conditions, Filter, Scalar, Sort } from '../../ports/read-store.ts'

/**
 * Stored form of a document: `w` is its workspace, empty for none, by which collections can be sharded; `d` is the document
 * without it, `p` the position of its last event, `x` the instant at which it expires, if any. A removed document leaves a guard:
 * a row with its workspace, its position and the instant at which the guard expires, without `d`.
 */
export interface Row {
  readonly _id: string
  readonly w: string
  readonly p: number
  readonly d?: Readonly<Record<string, unknown>>
  readonly x?: Date
}

const ROW_FIELDS: Readonly<Record<string, string>> = { _id: '_id', _position: 'p', workspaceId: 'w' }
/** Row fields that a guard has too. */
const GUARD_FIELDS: ReadonlySet<string> = new Set(['_id', '_position', 'workspaceId'])

/** Stored path of a document's path, or of a field of its row. */
export function storedPath(path: string): string {
  return ROW_FIELDS[path] ?? `d.${path}`
}

/**
 * Server form of a filter; with `now` (ms), of what has not expired by then. Guards are excluded, unless the filter itself
 * cannot match one.
 */
export function toServerFilter(filter: Filter, now?: number): ServerFilter<Row> {
  const rewritten = serverConditionOf(filter)
  const parts = [
    rewritten,
    ...(needsDocument(filter) ? [] : [{ d: { $exists: true } }]),
    ...(now === undefined ? [] : [{ x: { $not: { $lte: new Date(now) } } }]),
  ]
  return parts.length === 1 ? rewritten : { $and: parts }
}

/** Server form of a sort, with ties ordered by id. */
export function serverSortOf(sort: Sort): Record<string, 1 | -1> {
  return { ...Object.fromEntries(Object.entries(sort).map(([path, way]) => [storedPath(path), way])), _id: 1 }
}

function serverConditionOf(filter: Filter): Document {
  const parts = entries(filter).map(([path, condition]) =>
    isList(condition) ? combine(path, condition.map(serverConditionOf)) : { [storedPath(path)]: condition },
  )
  return parts.length === 1 && parts[0] ? parts[0] : combine('$and', parts)
}

/** The server refuses empty lists: an empty `$and` is always true, an empty `$or` never. */
function combine(operator: string, filters: readonly Document[]): Document {
  if (filters.length > 0) return { [operator]: filters }
  return operator === '$and' ? {} : { _id: { $in: [] } }
}

/** Whether only documents can match, and no guards, so that the filter needs no extra condition beside its index. */
function needsDocument(filter: Filter): boolean {
  return entries(filter).some(([path, condition]) => {
    if (isList(condition)) return path === '$and' ? condition.some(needsDocument) : condition.every(needsDocument)
    return !GUARD_FIELDS.has(path) && needsValue(condition)
  })
}

function needsValue(condition: Scalar | Conditions): boolean {
  if (condition === null) return false
  if (typeof condition !== 'object') return true
  const { $eq, $in, $gt, $gte, $lt, $lte, $regex } = condition
  const given = [$eq ?? undefined, $gt, $gte, $lt, $lte, $regex].some((value) => value !== undefined)
  return given || ($in !== undefined && !$in.includes(null))
}

function entries(filter: Filter): readonly (readonly [string, Scalar | Conditions | readonly Filter[]])[] {
  return Object.entries(filter).flatMap(([path, condition]) =>
    condition === undefined ? [] : [[path, condition] as const],
  )
}

function isList(condition: Scalar | Conditions | readonly Filter[]): condition is readonly Filter[] {
  return Array.isArray(condition)
}
