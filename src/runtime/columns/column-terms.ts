import type { Conditions, Filter, Scalar } from '../../ports/read-store.ts'

/** One condition on one path. */
export interface Term {
  readonly path: string
  readonly operator: Operator
  readonly operand: Scalar | readonly Scalar[]
}

const operators = ['$eq', '$ne', '$in', '$nin', '$gt', '$gte', '$lt', '$lte'] as const
type Operator = (typeof operators)[number]

/** Converts a filter into terms that must all hold; null when the filter is not such a conjunction. */
export function termsOf(filter: Filter): readonly Term[] | null {
  const terms: Term[] = []
  for (const [path, condition] of Object.entries(filter)) {
    if (condition === undefined) continue
    const more = path === '$and' ? termsOfAll(condition) : termsOfOne(path, condition)
    if (more === null) return null
    terms.push(...more)
  }
  return terms
}

type Condition = NonNullable<Filter[string]> | null

const isList = (condition: unknown): condition is readonly Filter[] => Array.isArray(condition)

function termsOfAll(filters: Condition): readonly Term[] | null {
  if (!isList(filters)) return null
  const all = filters.map(termsOf)
  return all.some((terms) => terms === null) ? null : all.flatMap((terms) => terms ?? [])
}

function termsOfOne(path: string, condition: Condition): readonly Term[] | null {
  if (path.startsWith('$') || isList(condition)) return null
  if (condition === null || typeof condition !== 'object') return [{ path, operator: '$eq', operand: condition }]
  const conditions: Conditions = condition
  const terms: Term[] = []
  for (const key of Object.keys(conditions)) {
    const operator = operators.find((one) => one === key)
    if (operator === undefined) return null
    const operand = conditions[operator]
    if (operand !== undefined) terms.push({ path, operator, operand })
  }
  return terms
}

const operandList = (operand: Term['operand']): readonly Scalar[] =>
  typeof operand === 'object' && operand !== null ? operand : [operand]

const sameType = (value: Scalar, operand: Term['operand']): operand is number | string =>
  typeof value === typeof operand && (typeof value === 'number' || typeof value === 'string')

// Orders text by code point, like the stores; `<` on strings would compare UTF-16 units.
function compare(a: Scalar, b: Scalar): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

const holds: Readonly<Record<Operator, (value: Scalar, operand: Term['operand']) => boolean>> = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
  $in: (value, operand) => operandList(operand).includes(value),
  $nin: (value, operand) => !operandList(operand).includes(value),
  $gt: (value, operand) => sameType(value, operand) && compare(value, operand) > 0,
  $gte: (value, operand) => sameType(value, operand) && compare(value, operand) >= 0,
  $lt: (value, operand) => sameType(value, operand) && compare(value, operand) < 0,
  $lte: (value, operand) => sameType(value, operand) && compare(value, operand) <= 0,
}

/** A test of one value by all of some terms. Long lists are sets. */
export function testOf(terms: readonly Term[]): (value: Scalar) => boolean {
  const tests = terms.map(({ operator, operand }) => {
    const set = operator === '$in' || operator === '$nin' ? new Set<unknown>(operandList(operand)) : null
    if (set) return operator === '$in' ? (value: Scalar) => set.has(value) : (value: Scalar) => !set.has(value)
    return (value: Scalar) => holds[operator](value, operand)
  })
  return (value) => tests.every((test) => test(value))
}

/** The single workspace of terms, and the other terms; null when there is not exactly one. */
export function splitWorkspace(
  terms: readonly Term[],
): { readonly workspaceId: string; readonly others: readonly Term[] } | null {
  const named = terms.filter(({ path, operator }) => path === 'workspaceId' && operator === '$eq')
  const [only] = named
  if (named.length !== 1 || typeof only?.operand !== 'string') return null
  return { workspaceId: only.operand, others: terms.filter((term) => term !== only) }
}

/** Numbers between two bounds. */
export interface Range {
  readonly from: number
  readonly fromItself: boolean
  readonly to: number
  readonly toItself: boolean
}

const ends: Readonly<Partial<Record<Operator, (range: Range, bound: number) => Range>>> = {
  $eq: (range, bound) => atLeast(atMost(range, bound, true), bound, true),
  $gt: (range, bound) => atLeast(range, bound, false),
  $gte: (range, bound) => atLeast(range, bound, true),
  $lt: (range, bound) => atMost(range, bound, false),
  $lte: (range, bound) => atMost(range, bound, true),
}

function atLeast(range: Range, from: number, fromItself: boolean): Range {
  if (from < range.from || (from === range.from && !range.fromItself)) return range
  return { ...range, from, fromItself }
}

function atMost(range: Range, to: number, toItself: boolean): Range {
  if (to > range.to || (to === range.to && !range.toItself)) return range
  return { ...range, to, toItself }
}

/** Intersects the terms into one range of numbers; null when a term is not a bound. */
export function rangeOf(terms: readonly Term[]): Range | null {
  let range: Range = { from: Number.NEGATIVE_INFINITY, fromItself: true, to: Number.POSITIVE_INFINITY, toItself: true }
  for (const { operator, operand } of terms) {
    const end = ends[operator]
    if (!end || typeof operand !== 'number') return null
    range = end(range, operand)
  }
  return range
}
