import {
  type Conditions,
  type Doc,
  type Filter,
  type Scalar,
  type Sort,
  type StoredDocument,
  workspaceOf,
} from '../../../src/ports/read-store.ts'

/** The value at a dotted path, or null; `_position` is the position of the document, `_id` its id. */
export function valueAt(stored: StoredDocument, path: string): unknown {
  if (path === '_position') return stored.position
  if (path === '_id') return stored.id
  if (path === 'workspaceId') return workspaceOf(stored.doc)
  let value: unknown = stored.doc
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return null
    value = (value as Doc)[step]
  }
  return value ?? null
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

const has = (value: unknown, wanted: Scalar): boolean =>
  Array.isArray(value) ? value.includes(wanted) : value === wanted

const ordered = (value: unknown, bound: string | number, passes: (order: number) => boolean): boolean =>
  (Array.isArray(value) ? value : [value]).some((one) => typeof one === typeof bound && passes(compare(one, bound)))

function meets(value: unknown, conditions: Conditions): boolean {
  const { $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $regex, $options } = conditions
  if ($eq !== undefined && !has(value, $eq)) return false
  if ($ne !== undefined && has(value, $ne)) return false
  if ($in !== undefined && !$in.some((one) => has(value, one))) return false
  if ($nin?.some((one) => has(value, one))) return false
  if ($gt !== undefined && !ordered(value, $gt, (order) => order > 0)) return false
  if ($gte !== undefined && !ordered(value, $gte, (order) => order >= 0)) return false
  if ($lt !== undefined && !ordered(value, $lt, (order) => order < 0)) return false
  if ($lte !== undefined && !ordered(value, $lte, (order) => order <= 0)) return false
  if ($regex === undefined) return true
  const pattern = new RegExp($regex, $options)
  return (Array.isArray(value) ? value : [value]).some((one) => typeof one === 'string' && pattern.test(one))
}

/** Whether a document matches a filter. */
export function matches(stored: StoredDocument, filter: Filter): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    if (condition === undefined) return true
    if (path === '$and') return (condition as readonly Filter[]).every((one) => matches(stored, one))
    if (path === '$or') return (condition as readonly Filter[]).some((one) => matches(stored, one))
    const value = valueAt(stored, path)
    return condition === null || typeof condition !== 'object'
      ? has(value, condition)
      : meets(value, condition as Conditions)
  })
}

const ranks: Readonly<Record<string, number>> = { object: 0, number: 1, string: 2, boolean: 3 }

function order(a: unknown, b: unknown): number {
  const rank = (ranks[typeof a] ?? 4) - (ranks[typeof b] ?? 4)
  if (rank !== 0 || a === null) return rank
  return typeof a === 'boolean' ? Number(a) - Number(b) : compare(a as string | number, b as string | number)
}

/** Compares documents by fields, then by id. */
export function bySort(sort: Sort): (a: StoredDocument, b: StoredDocument) => number {
  const fields = Object.entries(sort)
  return (a, b) => {
    for (const [path, direction] of fields) {
      const found = order(valueAt(a, path), valueAt(b, path)) * direction
      if (found !== 0) return found
    }
    return compare(a.id, b.id)
  }
}
