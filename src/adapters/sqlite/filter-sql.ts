import type { SQLInputValue } from 'node:sqlite'
import type { Conditions, Filter, Scalar, Sort } from '../../ports/read-store.ts'
import { type Collection, columnOf, expressionOf } from './collections.ts'
import { ELEMENT_VALUE_SQL, encode, jsonPath, LIST_SQL } from './values.ts'

/** SQL with its parameters in order. */
export interface Fragment {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** Longer lists are passed as one JSON parameter, so that few statements are prepared. */
const MAX_INLINE_VALUES = 32

/** Name of the SQL function for `$regex`: (expression, flags, value) → 0 or 1. */
export const MATCHES_FUNCTION = 'matches'

/** SQL condition of a filter. */
function whereOf(collection: Collection, filter: Filter): Fragment {
  const parts = Object.entries(filter).flatMap(([key, condition]): readonly Fragment[] => {
    if (condition === undefined) return []
    if (isList(condition))
      return [
        joinFragments(
          condition.map((each) => whereOf(collection, each)),
          key === '$or' ? 'OR' : 'AND',
        ),
      ]
    return conditionsOf(condition).map((each) => fieldCondition(collection, key, each))
  })
  return joinFragments(parts, 'AND')
}

/** SQL condition of documents that have not expired by an instant. */
export const ALIVE_SQL = '(expires_at IS NULL OR expires_at > ?)'

/** SQL condition of a filter; with `now` (ms), of documents that have not expired by then. */
export function aliveWhereOf(collection: Collection, filter: Filter, now: number | undefined): Fragment {
  const where = whereOf(collection, filter)
  if (now === undefined) return where
  return joinFragments([where, { sql: ALIVE_SQL, values: [now] }], 'AND')
}

/** SQL order of a sort, with ties ordered by id. */
export function orderByTerms(collection: Collection, sort: Sort = {}): string {
  const fields = Object.entries(sort).map(
    ([path, way]) => `${expressionOf(collection, path)} ${way === -1 ? 'DESC' : 'ASC'}`,
  )
  return [...fields, 'id ASC'].join(', ')
}

/** One operator with its operand; a negative condition is negated as a whole. */
interface Condition {
  readonly sqlFor: (expression: string) => Fragment
  readonly negative: boolean
}

const equal = (value: Scalar) => (expression: string) => anyOfSql(expression, [value])
const anyOf = (list: readonly Scalar[]) => (expression: string) => anyOfSql(expression, list)

/** Bounds that keep a range within the operand's type: numbers sort before all text, text before all blobs. */
const TYPE_ENDS = { number: { lower: '', upper: "< ''" }, string: { lower: ">= ''", upper: "< x''" } } as const

const range =
  (operator: '>' | '>=' | '<' | '<=', operand: string | number, all: Conditions) => (expression: string) => {
    const ends = TYPE_ENDS[typeof operand === 'number' ? 'number' : 'string']
    const rises = operator.startsWith('>')
    const end = rises ? ends.upper : ends.lower
    const own = { sql: `${expression} ${operator} ?`, values: [operand] }
    // SQLite uses the first bound of each side for an index; the sign keeps it from using the bound of the type.
    const sign = (rises ? (all.$lt ?? all.$lte) : (all.$gt ?? all.$gte)) === undefined ? '' : '+'
    return end === '' ? own : joinFragments([own, { sql: `${sign}${expression} ${end}`, values: [] }], 'AND')
  }

const matchesPattern = (expression: string, options: string) => (value: string) => ({
  sql: `${MATCHES_FUNCTION}(?, ?, ${value})`,
  values: [expression, `${options}u`],
})

type Operators = {
  readonly [K in Exclude<keyof Conditions, '$options'>]-?: (
    operand: NonNullable<Conditions[K]> | null,
    all: Conditions,
  ) => Condition
}

const positiveCondition = (sqlFor: Condition['sqlFor']): Condition => ({ sqlFor, negative: false })
const negativeCondition = (sqlFor: Condition['sqlFor']): Condition => ({ sqlFor, negative: true })

const OPERATORS: Operators = {
  $eq: (value) => positiveCondition(equal(value)),
  $ne: (value) => negativeCondition(equal(value)),
  $in: (list) => positiveCondition(anyOf(list ?? [])),
  $nin: (list) => negativeCondition(anyOf(list ?? [])),
  $gt: (operand, all) => positiveCondition(range('>', operand ?? '', all)),
  $gte: (operand, all) => positiveCondition(range('>=', operand ?? '', all)),
  $lt: (operand, all) => positiveCondition(range('<', operand ?? '', all)),
  $lte: (operand, all) => positiveCondition(range('<=', operand ?? '', all)),
  $regex: (expression, { $options = '' }) => positiveCondition(matchesPattern(expression ?? '', $options)),
}

function conditionsOf(condition: Scalar | Conditions): readonly Condition[] {
  if (condition === null || typeof condition !== 'object') return [positiveCondition(equal(condition))]
  return Object.entries(condition).flatMap(([operator, operand]) => {
    if (operator === '$options' || operand === undefined) return []
    if (!(operator in OPERATORS)) throw new TypeError(`Filters have no operator ${operator}.`)
    return [OPERATORS[operator as keyof Operators](operand as never, condition)]
  })
}

function fieldCondition(collection: Collection, path: string, { sqlFor, negative }: Condition): Fragment {
  const expression = expressionOf(collection, path)
  const positive = mayHaveLists(collection, path)
    ? joinFragments([sqlFor(expression), elementCondition(expression, path, sqlFor(ELEMENT_VALUE_SQL))], 'OR')
    : sqlFor(expression)
  return negative ? { sql: `NOT ifnull(${positive.sql}, 0)`, values: positive.values } : positive
}

function elementCondition(expression: string, path: string, condition: Fragment): Fragment {
  const sql = `(${expression} = ${LIST_SQL} AND EXISTS (SELECT 1 FROM json_each(doc, ${jsonPath(path)}) AS element WHERE ${condition.sql}))`
  return { sql, values: condition.values }
}

function mayHaveLists(collection: Collection, path: string): boolean {
  return columnOf(collection, path) === undefined || collection.lists.has(path)
}

function anyOfSql(expression: string, list: readonly Scalar[]): Fragment {
  const values = list.filter((value) => value !== null)
  const found = inSql(expression, values)
  if (values.length === list.length) return found
  const absent = { sql: `${expression} IS NULL`, values: [] }
  return values.length === 0 ? absent : joinFragments([absent, found], 'OR')
}

function inSql(expression: string, values: readonly Scalar[]): Fragment {
  if (values.length === 1) return { sql: `${expression} = ?`, values: values.map(encode) }
  if (values.length > MAX_INLINE_VALUES && values.every((value) => typeof value !== 'boolean')) {
    return { sql: `${expression} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }
  }
  return { sql: `${expression} IN (${values.map(() => '?').join(', ')})`, values: values.map(encode) }
}

function joinFragments(parts: readonly Fragment[], operator: 'AND' | 'OR'): Fragment {
  const [first] = parts
  if (parts.length === 0 || !first) return { sql: operator === 'AND' ? 'TRUE' : 'FALSE', values: [] }
  if (parts.length === 1) return first
  return {
    sql: `(${parts.map(({ sql }) => sql).join(` ${operator} `)})`,
    values: parts.flatMap(({ values }) => values),
  }
}

function isList(condition: Scalar | Conditions | readonly Filter[]): condition is readonly Filter[] {
  return Array.isArray(condition)
}
