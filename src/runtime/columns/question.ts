import type { RowGrouping, Scalar } from '../../ports/read-store.ts'
import type { Bounds } from './column-source.ts'
import type { Layout } from './column-spec.ts'
import { type Range, rangeOf, type Term, testOf } from './column-terms.ts'
import type { SegmentHeader } from './segment-header.ts'

/** What all terms of one column ask. `range`: of the numbers, where they ask for no more than that. */
export interface ColumnTest {
  readonly column: number
  readonly range: Range | null
  readonly passes: (value: Scalar) => boolean
}

/** A column to group by: by its values, or by what a function makes of them. */
export interface GroupColumn {
  readonly column: number
  readonly as: ((value: Scalar) => Scalar) | null
}

/** A sum or a count over columns, by their index in the layout. */
export interface Question {
  readonly tests: readonly ColumnTest[]
  readonly groupBy: readonly GroupColumn[]
  readonly fields: readonly number[]
  /** Number column whose largest value is told of each group; null for none. */
  readonly newest: number | null
  /** Number column of the instant at which rows within documents were added; null where each document is a row. */
  readonly addedAt: number | null
}

/** What is asked, by paths. */
export interface QuestionPaths {
  readonly groupBy: readonly (string | RowGrouping)[]
  readonly fields: readonly string[]
  readonly newest?: string | undefined
}

/** The question of a filter's terms, groups and summed fields; null when the columns cannot answer it. */
export function questionOf(
  { kinds, indexOf, rows }: Layout,
  terms: readonly Term[],
  { groupBy, fields, newest }: QuestionPaths,
): Question | null {
  const groupings = groupBy.map((by) => (typeof by === 'string' ? { path: by } : by))
  const indexesOf = (paths: readonly string[], kind: 'number' | 'code') => {
    const found = paths.flatMap((path) => indexOf.get(path) ?? []).filter((index) => kinds[index] === kind)
    return found.length === paths.length ? found : null
  }
  const groups = indexesOf(
    groupings.map(({ path }) => path),
    'code',
  )
  const sums = indexesOf(fields, 'number')
  const largest = indexesOf(newest === undefined ? [] : [newest], 'number')
  if (!groups || !sums || !largest || groups.length > 2) return null
  const tests: ColumnTest[] = []
  for (const [path, all] of Map.groupBy(terms, (term) => term.path)) {
    const column = indexOf.get(path)
    if (column === undefined) return null
    tests.push({ column, range: kinds[column] === 'number' ? rangeOf(all) : null, passes: testOf(all) })
  }
  return {
    tests,
    groupBy: groups.map((column, place) => ({ column, as: groupings[place]?.as ?? null })),
    fields: sums,
    newest: largest[0] ?? null,
    addedAt: rows?.latest ?? null,
  }
}

/** Whether all numbers between bounds are in a range. */
export function isInside({ from, fromItself, to, toItself }: Range, { min, max }: Bounds): boolean {
  return (fromItself ? min >= from : min > from) && (toItself ? max <= to : max < to)
}

/** Whether no number between bounds is in a range. */
export function isOutside({ from, fromItself, to, toItself }: Range, { min, max }: Bounds): boolean {
  return (fromItself ? max < from : max <= from) || (toItself ? min > to : min >= to)
}

/** What the header alone says of a test: whether all rows pass, none, or some. */
function outcomeOf(header: SegmentHeader, { column, range, passes }: ColumnTest): 'all' | 'some' | 'none' {
  const found = header.columns[column]
  if (found?.kind === 'code') {
    const passing = found.dictionary.filter((value) => passes(value)).length
    return passing === 0 ? 'none' : passing === found.dictionary.length ? 'all' : 'some'
  }
  if (!found || !range) return 'some'
  if (isOutside(range, found)) return 'none'
  return found.nulls === null && isInside(range, found) ? 'all' : 'some'
}

/** Whether the rows of a segment that were added when a question asks for are all of its rows. */
export function includesAll(header: SegmentHeader, { tests, addedAt }: Question): boolean {
  const test = tests.find(({ column }) => column === addedAt)
  return test === undefined || outcomeOf(header, test) === 'all'
}

/** The tests of a question that some rows of a segment may fail; null when no row passes all. */
export function openTests(header: SegmentHeader, { tests }: Question): readonly ColumnTest[] | null {
  const open: ColumnTest[] = []
  for (const test of tests) {
    const outcome = outcomeOf(header, test)
    if (outcome === 'none') return null
    if (outcome === 'some') open.push(test)
  }
  return open
}
