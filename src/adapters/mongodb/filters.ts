import type { Document, Filter as ServerFilter } from 'mongodb'
import type { Conditions, Filter, Scalar, Sort } from '../../ports/read-store.ts'

/**
 * How a document lies in its collection: `d` the document, `p` the position it was folded to. One that was removed leaves
 * its position as a guard, without `d`, and `g` names the checkpoint that has to pass it.
 */
export interface Row {
  readonly _id: string
  readonly p: number
  readonly d?: Readonly<Record<string, unknown>>
  readonly g?: string
}

const ROW_FIELDS: Readonly<Record<string, string>> = { _id: '_id', _position: 'p' }

/** Stored path of a document's path, or of what lies beside the document. */
export function storedPath(path: string): string {
  return ROW_FIELDS[path] ?? `d.${path}`
}

/** The server's filter for ours; guards are excluded where the filter itself does not. */
export function toServerFilter(filter: Filter): ServerFilter<Row> {
  const rewritten = serverConditionOf(filter)
  return needsDocument(filter) ? rewritten : { $and: [rewritten, { d: { $exists: true } }] }
}

/** The server's order for ours, ties by id. */
export function serverSortOf(sort: Sort): Record<string, 1 | -1> {
  return { ...Object.fromEntries(Object.entries(sort).map(([path, way]) => [storedPath(path), way])), _id: 1 }
}

function serverConditionOf(filter: Filter): Document {
  const parts = entries(filter).map(([path, condition]) =>
    isList(condition) ? combine(path, condition.map(serverConditionOf)) : { [storedPath(path)]: condition },
  )
  return parts.length === 1 && parts[0] ? parts[0] : combine('$and', parts)
}

/** The server refuses empty lists: no condition is always true, no alternative never. */
function combine(operator: string, filters: readonly Document[]): Document {
  if (filters.length > 0) return { [operator]: filters }
  return operator === '$and' ? {} : { _id: { $in: [] } }
}

/** Whether only a document can match, so that an index is used as it is. */
function needsDocument(filter: Filter): boolean {
  return entries(filter).some(([path, condition]) => {
    if (isList(condition)) return path === '$and' ? condition.some(needsDocument) : condition.every(needsDocument)
    return path !== '_position' && needsValue(condition)
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
