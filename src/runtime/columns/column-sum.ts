import type { Scalar } from '../../ports/read-store.ts'
import { type BlockSelection, createScratch, createSelector, type Scratch } from './block-selection.ts'
import { BLOCK_ROWS, type ColumnSource } from './column-source.ts'
import type { ColumnTest, GroupColumn, Question } from './question.ts'

export interface Group {
  readonly key: readonly Scalar[]
  readonly count: number
  readonly sums: readonly number[]
  /** Largest value of the column that the question names; null for none. */
  readonly newest: number | null
}

/** With more cells than this, two dimensions are renumbered by a map, so that the arrays hold only the cells that occur. */
const MAX_CELLS = 65_536

/** Sums by group over several sources. */
export interface Totals {
  /** Adds the rows of a source that pass the tests. */
  readonly add: (source: ColumnSource, tests: readonly ColumnTest[]) => void
  /** Adds what is known without looking at rows, of a question without groups. */
  readonly addWhole: (count: number, sums: readonly number[], newest: number | null) => void
  readonly groups: () => readonly Group[]
}

interface GrowingGroup {
  readonly key: readonly Scalar[]
  count: number
  readonly sums: number[]
  newest: number | null
}

/** Groups by their one or two values. */
function createGroups(fields: number) {
  const groups = new Map<Scalar, Map<Scalar, GrowingGroup>>()
  const groupOf = (key: readonly Scalar[]): GrowingGroup => {
    const [one = null, other = null] = key
    const among = groups.get(one) ?? new Map<Scalar, GrowingGroup>()
    if (among.size === 0) groups.set(one, among)
    const known = among.get(other)
    if (known) return known
    const group = { key, count: 0, sums: Array.from({ length: fields }, () => 0), newest: null }
    among.set(other, group)
    return group
  }
  return {
    add(key: readonly Scalar[], count: number, sums: readonly number[], newest: number | null): void {
      if (count === 0) return
      const group = groupOf(key)
      group.count += count
      for (let index = 0; index < sums.length; index++)
        group.sums[index] = (group.sums[index] ?? 0) + (sums[index] ?? 0)
      if (newest !== null && (group.newest === null || newest > group.newest)) group.newest = newest
    },
    all: (): readonly Group[] => [...groups.values()].flatMap((among) => [...among.values()]),
  }
}

/** Begins the sums of a question. */
export function createTotals(question: Question): Totals {
  const { groupBy, fields, newest } = question
  const scratch = createScratch()
  const groups = createGroups(fields.length)
  return {
    add(source, tests) {
      const cells = groupBy.length > 0 ? createCells(source, question) : null
      const select = createSelector(source, tests, scratch)
      const sums = fields.map(() => 0)
      let count = 0
      let largest: number | null = null
      for (let block = 0; block * BLOCK_ROWS < source.rows; block++) {
        const selection = select(block)
        if (selection.count === 0) continue
        count += selection.count
        if (cells) cells.add(block, selection, scratch)
        else {
          addTotals(source, fields, block, selection, scratch, sums)
          if (newest !== null) largest = largestOf(source.numbers(newest, block, scratch.numbers), selection, largest)
        }
      }
      if (cells) cells.each(groups.add)
      else groups.add([], count, sums, largest)
    },
    addWhole: (count, sums, largest) => groups.add([], count, sums, largest),
    groups: groups.all,
  }
}

function largestOf(values: Float64Array, { rows, count, isWhole }: BlockSelection, known: number | null): number {
  let largest = known ?? Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    const value = values[isWhole ? i : (rows[i] ?? 0)] ?? 0
    if (value > largest) largest = value
  }
  return largest
}

function addTotals(
  source: ColumnSource,
  fields: readonly number[],
  block: number,
  selection: BlockSelection,
  scratch: Scratch,
  sums: number[],
): void {
  for (let index = 0; index < fields.length; index++) {
    const values = source.numbers(fields[index] ?? 0, block, scratch.numbers)
    sums[index] = (sums[index] ?? 0) + totalOf(values, selection)
  }
}

// Four independent sums let the processor add in parallel; a single one waits for each addition. The order does not
// matter, because cents are integers. `?? 0` only satisfies the type checker, as in `block-selection.ts`.
function totalOf(values: Float64Array, { rows, count, isWhole }: BlockSelection): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  let i = 0
  if (isWhole) {
    for (; i + 3 < count; i += 4) {
      a += values[i] ?? 0
      b += values[i + 1] ?? 0
      c += values[i + 2] ?? 0
      d += values[i + 3] ?? 0
    }
    for (; i < count; i++) a += values[i] ?? 0
    return a + b + c + d
  }
  for (; i + 3 < count; i += 4) {
    a += values[rows[i] ?? 0] ?? 0
    b += values[rows[i + 1] ?? 0] ?? 0
    c += values[rows[i + 2] ?? 0] ?? 0
    d += values[rows[i + 3] ?? 0] ?? 0
  }
  for (; i < count; i++) a += values[rows[i] ?? 0] ?? 0
  return a + b + c + d
}

/** A column to group by in a source: the values to group by, and the place among them of each code, in steps. */
function dimensionOf(source: ColumnSource, { column, as }: GroupColumn) {
  const dictionary = source.dictionary(column)
  if (as === null) return { column, values: dictionary, places: Int32Array.from(dictionary.keys()) }
  const values: Scalar[] = []
  const known = new Map<Scalar, number>()
  const places = Int32Array.from(dictionary, (entry) => {
    const value = as(entry)
    const place = known.get(value) ?? values.push(value) - 1
    known.set(value, place)
    return place
  })
  return { column, values, places }
}

/** Sums by the values of one or two dimensions of a source: each combination is a cell. */
function createCells(source: ColumnSource, { groupBy, fields, newest }: Question) {
  const [one, other] = groupBy
  const first = dimensionOf(source, one ?? { column: 0, as: null })
  const second = other ? dimensionOf(source, other) : null
  const ones = first.values
  const others = second?.values ?? null
  const width = others?.length ?? 1
  const steps = first.places.map((place) => place * width)
  const isDense = ones.length * width <= MAX_CELLS
  /** Places of the cells that occur, where there may be too many others. */
  const places = new Map<number, number>()
  const met: number[] = []
  const placeOf = (cell: number): number => {
    const known = places.get(cell)
    if (known !== undefined) return known
    places.set(cell, met.length)
    return met.push(cell) - 1
  }
  let counts = new Float64Array(isDense ? ones.length * width : BLOCK_ROWS)
  const sums = fields.map(() => new Float64Array(counts.length))
  let largest = newest === null ? null : new Float64Array(counts.length)

  function grow(): void {
    const size = 2 * counts.length
    const larger = (old: Float64Array<ArrayBuffer>) => {
      const fresh = new Float64Array(size)
      fresh.set(old)
      return fresh
    }
    counts = larger(counts)
    for (const [index, old] of sums.entries()) sums[index] = larger(old)
    if (largest) largest = larger(largest)
  }

  /** Writes the place of each selected row. */
  function placesOf(block: number, { rows, count, isWhole }: BlockSelection, scratch: Scratch): Float64Array {
    const { cells } = scratch
    const codes = source.codes(first.column, block, scratch.codes)
    if (second) {
      const more = source.codes(second.column, block, scratch.moreCodes)
      for (let i = 0; i < count; i++) {
        const row = isWhole ? i : (rows[i] ?? 0)
        cells[i] = (steps[codes[row] ?? 0] ?? 0) + (second.places[more[row] ?? 0] ?? 0)
      }
    } else for (let i = 0; i < count; i++) cells[i] = steps[codes[isWhole ? i : (rows[i] ?? 0)] ?? 0] ?? 0
    if (isDense) return cells
    for (let i = 0; i < count; i++) cells[i] = placeOf(cells[i] ?? 0)
    while (met.length > counts.length) grow()
    return cells
  }

  return {
    add(block: number, selection: BlockSelection, scratch: Scratch): void {
      const cells = placesOf(block, selection, scratch)
      const { rows, count, isWhole } = selection
      for (let i = 0; i < count; i++) {
        const cell = cells[i] ?? 0
        counts[cell] = (counts[cell] ?? 0) + 1
      }
      for (let index = 0; index < fields.length; index++) {
        const values = source.numbers(fields[index] ?? 0, block, scratch.numbers)
        const into = sums[index] ?? counts
        if (isWhole) addAll(cells, values, into, count)
        else addAmong(cells, values, rows, into, count)
      }
      if (newest === null || !largest) return
      const values = source.numbers(newest, block, scratch.numbers)
      for (let i = 0; i < count; i++) {
        const [cell, value] = [cells[i] ?? 0, values[isWhole ? i : (rows[i] ?? 0)] ?? 0]
        if (value > (largest[cell] ?? 0)) largest[cell] = value
      }
    },
    each(visit: (key: readonly Scalar[], count: number, sums: readonly number[], newest: number | null) => void): void {
      const cells = isDense ? counts.length : met.length
      for (let place = 0; place < cells; place++) {
        const count = counts[place] ?? 0
        if (count === 0) continue
        const cell = isDense ? place : (met[place] ?? 0)
        const one = ones[Math.floor(cell / width)] ?? null
        const key = others ? [one, others[cell % width] ?? null] : [one]
        const own = sums.map((into) => into[place] ?? 0)
        visit(key, count, own, largest ? (largest[place] ?? 0) : null)
      }
    },
  }
}

function addAll(cells: Float64Array, values: Float64Array, into: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const cell = cells[i] ?? 0
    into[cell] = (into[cell] ?? 0) + (values[i] ?? 0)
  }
}

function addAmong(
  cells: Float64Array,
  values: Float64Array,
  rows: Uint32Array,
  into: Float64Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const cell = cells[i] ?? 0
    into[cell] = (into[cell] ?? 0) + (values[rows[i] ?? 0] ?? 0)
  }
}
