import type { Scalar } from '../../ports/read-store.ts'

/** Rows that are worked on at once: what is decoded of them stays in the processor's cache. */
export const BLOCK_ROWS = 4_096

/** The least and the greatest of some numbers. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

/** The columns of some rows, by the index of the column in the layout, read block by block. */
export interface ColumnSource {
  readonly rows: number
  /** Rows that count no longer, ascending: newer ones stand elsewhere. */
  readonly dead: Uint32Array | null
  /** The numbers of a block, by row; 0 for null. They may be written to `into`. */
  readonly numbers: (column: number, block: number, into: Float64Array) => Float64Array
  /** The number that all rows have, where null counts as 0; null where they differ or it is not known. */
  readonly constant?: (column: number) => number | null
  /** The least and the greatest number of a block, where null counts as 0; null where they are not known. */
  readonly bounds?: (column: number, block: number) => Bounds | null
  /** 1 for each null of a block; null when it has none. */
  readonly nulls: (column: number, block: number) => Uint8Array | null
  /** The codes of a block, by row: places in the dictionary. They may be written to `into`. */
  readonly codes: (column: number, block: number, into: Int32Array) => Int32Array
  readonly dictionary: (column: number) => readonly Scalar[]
}

/** Rows of a block. */
export function rowsOfBlock({ rows }: Pick<ColumnSource, 'rows'>, block: number): number {
  return Math.min(BLOCK_ROWS, rows - block * BLOCK_ROWS)
}
