import type { Scalar } from '../../ports/read-store.ts'
import { ADDED_AT_ONCE, type BlockSelection, createScratch, createSelector, type Scratch } from './block-selection.ts'
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
function createGroups() {
  const groups = new Map<Scalar, Map<Scalar, GrowingGroup>>()
  let last: Scalar | undefined
  let among = new Map<Scalar, GrowingGroup>()
  /** The groups with a first value. They come in the order of that value. */
  const groupsOf = (one: Scalar): Map<Scalar, GrowingGroup> => {
    if (one === last) return among
    last = one
    among = groups.get(one) ?? new Map<Scalar, GrowingGroup>()
    groups.set(one, among)
    return among
  }
  return {
    add(key: readonly Scalar[], count: number, sums: readonly number[], newest: number | null): void {
      if (count === 0) return
      const [one = null, other = null] = key
      const own = groupsOf(one)
      const group = own.get(other)
      if (!group) {
        own.set(other, { key, count, sums: [...sums], newest })
        return
      }
      group.count += count
      for (let index = 0; index < sums.length; index++)
        group.sums[index] = (group.sums[index] ?? 0) + (sums[index] ?? 0)
      if (newest !== null && (group.newest === null || newest > group.newest)) group.newest = newest
    },
    all: (): readonly Group[] => [...groups.values()].flatMap((own) => [...own.values()]),
  }
}

/** Of all questions of this thread: rows are added without a break. */
const scratch = createScratch()

/** Begins the sums of a question. */
export function createTotals(question: Question): Totals {
  const { groupBy, fields, newest } = question
  const groups = createGroups()
  return {
    add(source, tests) {
      const cells = groupBy.length > 0 ? createCells(source, question, scratch) : null
      const select = createSelector(source, tests, scratch)
      const sums = fields.map(() => 0)
      let count = 0
      let largest: number | null = null
      for (let block = 0; block * BLOCK_ROWS < source.rows; block++) {
        const selection = select(block)
        if (selection.count === 0) continue
        count += selection.count
        if (cells) cells.add(block, selection)
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
    const field = fields[index] ?? 0
    const constant = source.constant?.(field) ?? null
    const total =
      constant === null ? totalOf(source.numbers(field, block, scratch.numbers), selection) : constant * selection.count
    sums[index] = (sums[index] ?? 0) + total
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

/** A column to group by in a source: the values to group by, and the place among them of each code. */
function dimensionOf(source: ColumnSource, { column, as }: GroupColumn) {
  const dictionary = source.dictionary(column)
  if (as === null) return { column, values: dictionary, places: Int32Array.from(dictionary.keys()) }
  const values: Scalar[] = []
  const known = new Map<Scalar, number>()
  const placeOf = (value: Scalar): number => {
    const place = known.get(value) ?? values.push(value) - 1
    known.set(value, place)
    return place
  }
  let [last, place]: [Scalar | undefined, number] = [undefined, 0]
  const places = Int32Array.from(dictionary, (entry) => {
    const value = as(entry)
    // Entries beside each other are often alike: quarters of one day.
    if (value !== last) [last, place] = [value, placeOf(value)]
    return place
  })
  return { column, values, places }
}

/** What stands for a second dimension where there is none: all rows have its one value. */
const NO_DIMENSION = { values: [null], places: Int32Array.of(0), codes: new Int32Array(BLOCK_ROWS) }

/** Sums by the values of one or two dimensions of a source: each combination is a cell. */
function createCells(source: ColumnSource, { groupBy, fields, newest }: Question, scratch: Scratch) {
  const [one, other] = groupBy
  const first = dimensionOf(source, one ?? { column: 0, as: null })
  const second = other ? dimensionOf(source, other) : null
  const ones = first.values
  const { values: others, places: columns } = second ?? NO_DIMENSION
  const width = others.length
  const isDense = ones.length * width <= MAX_CELLS
  /** A number that all rows have follows from their count. */
  const constants = fields.map((field) => source.constant?.(field) ?? null)
  /** What is added to the sums of a cell, which lie beside each other. */
  const added = [COUNT, ...fields.filter((_, index) => constants[index] === null)]
  const stride = Math.ceil(added.length / ADDED_AT_ONCE) * ADDED_AT_ONCE
  /** Where the sums of each code of the first dimension begin; beyond dense cells it may be more than 32 bits hold. */
  const begins = first.places.map((place) => place * width * stride)
  const steps = columns.map((place) => place * stride)
  /** Places of the cells that occur, where there may be too many others. */
  const places = new Map<number, number>()
  const met: number[] = []
  const placeOf = (cell: number): number => {
    const known = places.get(cell)
    if (known !== undefined) return known
    places.set(cell, met.length)
    return met.push(cell) - 1
  }
  let size = isDense ? ones.length * width : BLOCK_ROWS
  let sums = new Float64Array(size * stride)
  let largest = newest === null ? null : new Float64Array(size)

  function grow(): void {
    size *= 2
    const larger = (old: Float64Array<ArrayBuffer>, length: number) => {
      const fresh = new Float64Array(length)
      fresh.set(old)
      return fresh
    }
    sums = larger(sums, size * stride)
    if (largest) largest = larger(largest, size)
  }

  /** Writes where the sums of each selected row begin. */
  function placesOf(block: number, selection: BlockSelection): Int32Array {
    const { cells } = scratch
    const codesOf = (column: number, into: Int32Array) => selected(source.codes(column, block, into), into, selection)
    const codes = codesOf(first.column, scratch.codes)
    const more = second ? codesOf(second.column, scratch.moreCodes) : NO_DIMENSION.codes
    const { count } = selection
    if (isDense) {
      addPlaces(begins, codes, steps, more, cells, count)
      return cells
    }
    for (let i = 0; i < count; i++)
      cells[i] = placeOf((first.places[codes[i] ?? 0] ?? 0) * width + (columns[more[i] ?? 0] ?? 0)) * stride
    while (met.length > size) grow()
    return cells
  }

  return {
    add(block: number, selection: BlockSelection): void {
      const cells = placesOf(block, selection)
      const { count } = selection
      const numbersOf = (column: number, into: Float64Array) =>
        selected(source.numbers(column, block, into), into, selection)
      for (let from = 0; from < added.length; from += ADDED_AT_ONCE) {
        const addends = scratch.addends.map((into, place) => {
          const column = added[from + place]
          if (column === COUNT) return ONES
          return column === undefined ? ZEROS : numbersOf(column, into)
        })
        addFour(cells, addends, sums, from, count)
      }
      if (newest === null || !largest) return
      const values = numbersOf(newest, scratch.numbers)
      for (let i = 0; i < count; i++) {
        const cell = (cells[i] ?? 0) / stride
        const value = values[i] ?? 0
        if (value > (largest[cell] ?? 0)) largest[cell] = value
      }
    },
    each(visit: (key: readonly Scalar[], count: number, sums: readonly number[], newest: number | null) => void): void {
      const cells = isDense ? size : met.length
      for (let place = 0; place < cells; place++) {
        let at = place * stride
        const count = sums[at] ?? 0
        if (count === 0) continue
        const cell = isDense ? place : (met[place] ?? 0)
        const one = ones[Math.floor(cell / width)] ?? null
        const key = second ? [one, others[cell % width] ?? null] : [one]
        const own = constants.map((constant) => (constant === null ? (sums[++at] ?? 0) : constant * count))
        visit(key, count, own, largest ? (largest[place] ?? 0) : null)
      }
    },
  }
}

/** Stands for the column that has 1 in each row. */
const COUNT = -1
const ONES = new Float64Array(BLOCK_ROWS).fill(1)
const ZEROS = new Float64Array(BLOCK_ROWS)

/** The values of the selected rows, one after the other. Rows ascend, so `into` may be `values`: none is overwritten before it is read. */
function selected<Values extends Float64Array | Int32Array>(
  values: Values,
  into: Values,
  { rows, count, isWhole }: BlockSelection,
): Values {
  if (isWhole) return values
  for (let i = 0; i < count; i++) into[i] = values[rows[i] ?? 0] ?? 0
  return into
}

function addPlaces(
  begins: Int32Array,
  codes: Int32Array,
  steps: Int32Array,
  more: Int32Array,
  into: Int32Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) into[i] = (begins[codes[i] ?? 0] ?? 0) + (steps[more[i] ?? 0] ?? 0)
}

/** Adds the numbers of four columns to four sums that lie beside each other. */
function addFour(
  places: Int32Array,
  [a = ZEROS, b = ZEROS, c = ZEROS, d = ZEROS]: readonly Float64Array[],
  into: Float64Array,
  from: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const at = (places[i] ?? 0) + from
    into[at] = (into[at] ?? 0) + (a[i] ?? 0)
    into[at + 1] = (into[at + 1] ?? 0) + (b[i] ?? 0)
    into[at + 2] = (into[at + 2] ?? 0) + (c[i] ?? 0)
    into[at + 3] = (into[at + 3] ?? 0) + (d[i] ?? 0)
  }
}
