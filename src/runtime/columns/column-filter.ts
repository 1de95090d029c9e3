import type { Conditions, Filter, Scalar } from '../../ports/read-store.ts'
import type { CodeColumn, NumberArray, NumberColumn, Table } from './columns.ts'

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

/** The rows selected so far, `rows[0..count)`; `rows` is null when all rows are selected. */
export interface Selection {
  readonly rows: Uint32Array | null
  readonly count: number
}

/** Selects the rows for which all terms hold; null when the path of a term has no column. */
export function select(table: Table, terms: readonly Term[]): Selection | null {
  let selection: Selection = { rows: null, count: table.rows }
  for (const [path, all] of Map.groupBy(terms, (term) => term.path)) {
    const column = table.columns.get(path)
    if (!column) return null
    selection = column.kind === 'code' ? selectCodes(column, all, selection) : selectNumbers(column, all, selection)
  }
  return selection
}

// Each loop writes the index of every row, and advances the write position only for rows that pass: there is no branch
// to mispredict. `into` may be `from`, because the write position never passes the read position.
// `?? 0` only satisfies the type checker: every index is within its array, and V8 removes the check.
function selectCodes(column: CodeColumn, terms: readonly Term[], { rows: from, count }: Selection): Selection {
  const [only] = terms
  const { values } = column
  const into = from ?? new Uint32Array(count)
  if (terms.length === 1 && only?.operator === '$eq') {
    const code = typeof only.operand === 'object' && only.operand !== null ? undefined : column.codes.get(only.operand)
    if (code === undefined) return { rows: into, count: 0 }
    return { rows: into, count: from ? equalAmong(values, code, into, count) : equalInAll(values, code, into, count) }
  }
  const passes = Uint8Array.from(column.dictionary, (value) =>
    terms.every(({ operator, operand }) => holds[operator](value, operand)) ? 1 : 0,
  )
  return { rows: into, count: from ? passAmong(values, passes, into, count) : passInAll(values, passes, into, count) }
}

function equalInAll(values: Int32Array, code: number, into: Uint32Array, rows: number): number {
  let found = 0
  for (let row = 0; row < rows; row++) {
    into[found] = row
    found += values[row] === code ? 1 : 0
  }
  return found
}

function equalAmong(values: Int32Array, code: number, rows: Uint32Array, count: number): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i] ?? 0
    rows[found] = row
    found += values[row] === code ? 1 : 0
  }
  return found
}

function passInAll(values: Int32Array, passes: Uint8Array, into: Uint32Array, rows: number): number {
  let found = 0
  for (let row = 0; row < rows; row++) {
    into[found] = row
    found += passes[values[row] ?? 0] ?? 0
  }
  return found
}

function passAmong(values: Int32Array, passes: Uint8Array, rows: Uint32Array, count: number): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i] ?? 0
    rows[found] = row
    found += passes[values[row] ?? 0] ?? 0
  }
  return found
}

interface Range {
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
function rangeOf(terms: readonly Term[]): Range | null {
  let range: Range = { from: Number.NEGATIVE_INFINITY, fromItself: true, to: Number.POSITIVE_INFINITY, toItself: true }
  for (const { operator, operand } of terms) {
    const end = ends[operator]
    if (!end || typeof operand !== 'number') return null
    range = end(range, operand)
  }
  return range
}

function selectNumbers(column: NumberColumn, terms: readonly Term[], { rows: from, count }: Selection): Selection {
  const into = from ?? new Uint32Array(count)
  const range = rangeOf(terms)
  if (range === null) return { rows: into, count: testEach(column, terms, from, into, count) }
  const within = from ? rangeAmong(column.values, range, into, count) : rangeInAll(column.values, range, into, count)
  return { rows: into, count: column.nulls ? equalFlagAmong(column.nulls, 0, into, within) : within }
}

function rangeInAll(
  values: NumberArray,
  { from, fromItself, to, toItself }: Range,
  into: Uint32Array,
  rows: number,
): number {
  let found = 0
  for (let row = 0; row < rows; row++) {
    const value = values[row] ?? 0
    into[found] = row
    found += (fromItself ? value >= from : value > from) && (toItself ? value <= to : value < to) ? 1 : 0
  }
  return found
}

function rangeAmong(
  values: NumberArray,
  { from, fromItself, to, toItself }: Range,
  rows: Uint32Array,
  count: number,
): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i] ?? 0
    const value = values[row] ?? 0
    rows[found] = row
    found += (fromItself ? value >= from : value > from) && (toItself ? value <= to : value < to) ? 1 : 0
  }
  return found
}

function equalFlagAmong(flags: Uint8Array, flag: number, rows: Uint32Array, count: number): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i] ?? 0
    rows[found] = row
    found += flags[row] === flag ? 1 : 0
  }
  return found
}

function testEach(
  { values, nulls }: NumberColumn,
  terms: readonly Term[],
  from: Uint32Array | null,
  into: Uint32Array,
  count: number,
): number {
  const tests = terms.map(({ operator, operand }) => {
    // A set, because the list may be long.
    const set = operator === '$in' || operator === '$nin' ? new Set<unknown>(operandList(operand)) : null
    if (set) return operator === '$in' ? (value: Scalar) => set.has(value) : (value: Scalar) => !set.has(value)
    return (value: Scalar) => holds[operator](value, operand)
  })
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = from ? (from[i] ?? 0) : i
    const value = nulls?.[row] === 1 ? null : (values[row] ?? 0)
    into[found] = row
    if (tests.every((test) => test(value))) found += 1
  }
  return found
}
