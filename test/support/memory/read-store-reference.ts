import {
  type Conditions,
  type Doc,
  type Filter,
  type Page,
  type Scalar,
  type StoredDocument,
  workspaceOf,
} from '../../../src/ports/read-store.ts'

/** The semantics of the read store port, written as plain code over documents in memory without an index. */

/** The documents of a page. */
export function findIn(
  documents: readonly StoredDocument[],
  { filter, sort = {}, skip = 0, limit }: Page,
): readonly StoredDocument[] {
  const found = documents.filter((document) => matches(document, filter))
  const ordered = found.toSorted((one, other) => {
    for (const [path, way] of Object.entries(sort)) {
      const order = compare(scalarAt(one, path), scalarAt(other, path))
      if (order !== 0) return order * way
    }
    return compare(one.id, other.id)
  })
  return ordered.slice(skip, limit === undefined ? undefined : skip + limit)
}

/** The values of a page at a path. */
export function pluckIn(documents: readonly StoredDocument[], path: string, page: Page): readonly Scalar[] {
  return findIn(documents, page).map((document) => {
    const value = at(document, path)
    return typeof value === 'object' ? null : (value as Scalar)
  })
}

/** The values of a page at several paths: undefined for lists and objects. */
export function selectIn(
  documents: readonly StoredDocument[],
  paths: readonly string[],
  page: Page,
): readonly (readonly (Scalar | undefined)[])[] {
  return findIn(documents, page).map((document) =>
    paths.map((path) => {
      const value = at(document, path)
      return typeof value === 'object' && value !== null ? undefined : (value as Scalar)
    }),
  )
}

/** Sums by group, in no particular order. */
export function sumIn(
  documents: readonly StoredDocument[],
  filter: Filter,
  groupBy: readonly string[],
  fields: readonly string[],
): readonly { readonly key: readonly Scalar[]; readonly count: number; readonly sums: readonly number[] }[] {
  const keyOf = (document: StoredDocument) => groupBy.map((path) => scalarAt(document, path))
  const found = documents.filter((document) => matches(document, filter))
  const groups = Map.groupBy(found, (document) => JSON.stringify(keyOf(document)))
  return [...groups.values()].map((group) => ({
    key: group[0] ? keyOf(group[0]) : [],
    count: group.length,
    sums: fields.map((path) => group.reduce((sum, document) => sum + Number(scalarAt(document, path)), 0)),
  }))
}

/** Whether a document matches a filter. */
export function matches(document: StoredDocument, filter: Filter): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    if (condition === undefined) return true
    if (isList(condition))
      return path === '$or'
        ? condition.some((each) => matches(document, each))
        : condition.every((each) => matches(document, each))
    return meets(at(document, path), condition)
  })
}

const OPERATORS: Readonly<
  Record<keyof Conditions, (values: readonly unknown[], operand: never, all: Conditions) => boolean>
> = {
  $eq: (values, operand: Scalar) => values.includes(operand),
  $ne: (values, operand: Scalar) => !values.includes(operand),
  $in: (values, operand: readonly Scalar[]) => operand.some((each) => values.includes(each)),
  $nin: (values, operand: readonly Scalar[]) => !operand.some((each) => values.includes(each)),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
  $regex: (values, operand: string, { $options }) => {
    const expression = new RegExp(operand, $options)
    return values.some((value) => typeof value === 'string' && expression.test(value))
  },
  $options: () => true,
}

function ordered(holds: (order: number) => boolean) {
  return (values: readonly unknown[], operand: string | number) =>
    values.some((value) => typeof value === typeof operand && holds(compare(value, operand)))
}

function meets(value: unknown, condition: Scalar | Conditions): boolean {
  const conditions: Conditions = condition === null || typeof condition !== 'object' ? { $eq: condition } : condition
  const values = Array.isArray(value) ? value : [value]
  return Object.entries(conditions).every(([operator, operand]) =>
    OPERATORS[operator as keyof Conditions](values, operand as never, conditions),
  )
}

/** The value at a dotted path; null when there is none. */
function at(document: StoredDocument, path: string): unknown {
  if (path === '_position') return document.position
  if (path === '_id') return document.id
  if (path === 'workspaceId') return workspaceOf(document.doc)
  const walk = (value: unknown, key: string) =>
    value !== null && typeof value === 'object' ? ((value as Doc)[key] ?? null) : null
  return path.split('.').reduce(walk, document.doc)
}

function scalarAt(document: StoredDocument, path: string): Scalar {
  return at(document, path) as Scalar
}

/** Null comes first; text compares by code unit. */
function compare(one: unknown, other: unknown): number {
  if (one === other) return 0
  if (one === null || other === null) return one === null ? -1 : 1
  return (one as string | number) < (other as string | number) ? -1 : 1
}

function isList(condition: Scalar | Conditions | readonly Filter[]): condition is readonly Filter[] {
  return Array.isArray(condition)
}
