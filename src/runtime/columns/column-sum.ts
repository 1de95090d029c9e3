import type { Scalar } from '../../ports/read-store.ts'
import type { Selection } from './column-filter.ts'
import type { CodeColumn, NumberArray, NumberColumn, Table } from './columns.ts'

export interface Group {
  readonly key: readonly Scalar[]
  readonly count: number
  readonly sums: readonly number[]
}

/** With more cells than this, two dimensions are renumbered by a map, so that the arrays hold only the cells that occur. */
const MAX_CELLS = 4_000_000

/** Sums of number columns over the selected rows, by up to two code columns; null when a path is not such a column. */
export function sumColumns(
  table: Table,
  selection: Selection,
  groupBy: readonly string[],
  fields: readonly string[],
): readonly Group[] | null {
  const sums = fields.map((path) => table.columns.get(path)).filter((column) => column?.kind === 'number')
  const dimensions = groupBy.map((path) => table.columns.get(path)).filter((column) => column?.kind === 'code')
  if (sums.length < fields.length || dimensions.length < groupBy.length || dimensions.length > 2) return null
  if (selection.count === 0) return []
  const [first, second] = dimensions
  if (!first) return [{ key: [], count: selection.count, sums: sums.map((column) => total(column, selection)) }]
  return second ? byTwo(first, second, sums, selection) : byOne(first, sums, selection)
}

function total({ values }: NumberColumn, { rows, count }: Selection): number {
  return rows ? totalAmong(values, rows, count) : totalOfAll(values, count)
}

// Four independent sums let the processor add in parallel; a single one waits for each addition. The order does not
// matter, because cents are integers. `?? 0` only satisfies the type checker, as in `column-filter.ts`.
function totalOfAll(values: NumberArray, rows: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let row = 0
  for (; row + 3 < rows; row += 4) {
    a += values[row] ?? 0
    b += values[row + 1] ?? 0
    c += values[row + 2] ?? 0
    d += values[row + 3] ?? 0
  }
  for (; row < rows; row++) a += values[row] ?? 0
  return a + b + c + d
}

function totalAmong(values: NumberArray, rows: Uint32Array, count: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  for (; i + 3 < count; i += 4) {
    a += values[rows[i] ?? 0] ?? 0
    b += values[rows[i + 1] ?? 0] ?? 0
    c += values[rows[i + 2] ?? 0] ?? 0
    d += values[rows[i + 3] ?? 0] ?? 0
  }
  for (; i < count; i++) a += values[rows[i] ?? 0] ?? 0
  return a + b + c + d
}

function byOne(dimension: CodeColumn, sums: readonly NumberColumn[], selection: Selection): readonly Group[] {
  const cells = cellsOf(dimension.values, selection)
  const keyOf = (cell: number): readonly Scalar[] => [dimension.dictionary[cell] ?? null]
  return gather(cells, dimension.dictionary.length, keyOf, sums, selection)
}

function byTwo(
  first: CodeColumn,
  second: CodeColumn,
  sums: readonly NumberColumn[],
  selection: Selection,
): readonly Group[] {
  const width = second.dictionary.length
  const all = first.dictionary.length * width
  const keyOf = (cell: number): readonly Scalar[] => [
    first.dictionary[Math.floor(cell / width)] ?? null,
    second.dictionary[cell % width] ?? null,
  ]
  const cells = pairsOf(first.values, second.values, width, selection)
  if (all <= MAX_CELLS) return gather(cells, all, keyOf, sums, selection)
  const met: number[] = []
  const dense = renumberCells(cells, met)
  return gather(dense, met.length, (cell) => keyOf(met[cell] ?? 0), sums, selection)
}

function cellsOf(values: Int32Array, { rows, count }: Selection): Int32Array | Float64Array {
  if (!rows) return values.subarray(0, count)
  const cells = new Int32Array(count)
  for (let i = 0; i < count; i++) cells[i] = values[rows[i] ?? 0] ?? 0
  return cells
}

function pairsOf(
  first: Int32Array,
  second: Int32Array,
  width: number,
  { rows, count }: Selection,
): Float64Array | Int32Array {
  // A pair may exceed the range of an Int32.
  const cells = width * count > 2 ** 31 ? new Float64Array(count) : new Int32Array(count)
  if (rows) {
    for (let i = 0; i < count; i++) {
      const row = rows[i] ?? 0
      cells[i] = (first[row] ?? 0) * width + (second[row] ?? 0)
    }
  } else for (let i = 0; i < count; i++) cells[i] = (first[i] ?? 0) * width + (second[i] ?? 0)
  return cells
}

/** Renumbers cells in order of first occurrence, and appends the cell of each number to `met`. */
function renumberCells(cells: Int32Array | Float64Array, met: number[]): Int32Array {
  const numbers = new Map<number, number>()
  return Int32Array.from(cells, (cell) => {
    const known = numbers.get(cell)
    if (known !== undefined) return known
    numbers.set(cell, met.length)
    return met.push(cell) - 1
  })
}

function gather(
  cells: Int32Array | Float64Array,
  size: number,
  keyOf: (cell: number) => readonly Scalar[],
  sums: readonly NumberColumn[],
  { rows, count }: Selection,
): readonly Group[] {
  const counts = new Float64Array(size)
  for (let i = 0; i < count; i++) {
    const cell = cells[i] ?? 0
    counts[cell] = (counts[cell] ?? 0) + 1
  }
  const totals = sums.map(({ values }) => {
    const into = new Float64Array(size)
    if (rows) addAmong(cells, values, rows, into, count)
    else addAll(cells, values, into, count)
    return into
  })
  const groups: Group[] = []
  for (let cell = 0; cell < size; cell++) {
    const count = counts[cell] ?? 0
    if (count > 0) groups.push({ key: keyOf(cell), count, sums: totals.map((into) => into[cell] ?? 0) })
  }
  return groups
}

function addAll(cells: Int32Array | Float64Array, values: NumberArray, into: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) {
    const cell = cells[i] ?? 0
    into[cell] = (into[cell] ?? 0) + (values[i] ?? 0)
  }
}

function addAmong(
  cells: Int32Array | Float64Array,
  values: NumberArray,
  rows: Uint32Array,
  into: Float64Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const cell = cells[i] ?? 0
    into[cell] = (into[cell] ?? 0) + (values[rows[i] ?? 0] ?? 0)
  }
}
