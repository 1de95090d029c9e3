import { describe, expect, it } from 'vitest'
import { createBlockBuilder, openBlock } from '../../../../../src/runtime/write/snapshots/block.ts'
import {
  blocksOf,
  dividePieces,
  PIECE_BYTES,
  pieceOf,
  type SnapshotBlock,
} from '../../../../../src/runtime/write/snapshots/piece.ts'

function blockOf(part: string, length: number): SnapshotBlock {
  const builder = createBlockBuilder()
  builder.add('key', 'x'.repeat(length))
  return { part, upTo: 7, whole: false, entries: 1, bytes: builder.finish() }
}

/** The longest text whose block fits into a piece alone. */
function longest(): number {
  let [fits, tooLong] = [0, 2 * PIECE_BYTES]
  while (tooLong - fits > 1) {
    const length = (fits + tooLong) >> 1
    try {
      dividePieces([blockOf('map a', length)])
      fits = length
    } catch {
      tooLong = length
    }
  }
  return fits
}

describe('a piece', () => {
  it('has its blocks again, wherever its bytes stand in memory', () => {
    const blocks = [blockOf('map a', 5), blockOf('window b 2026', 0), { ...blockOf('rest', 77), whole: true }]
    const piece = pieceOf(blocks)
    for (const shift of [0, 1, 2, 3]) {
      const moved = new Uint8Array(piece.byteLength + shift).subarray(shift)
      moved.set(piece)
      const read = blocksOf(moved)
      expect(read.map(({ bytes, ...block }) => block)).toEqual(blocks.map(({ bytes, ...block }) => block))
      expect(read.map(({ bytes }) => openBlock(bytes).entryAt(0))).toEqual(
        blocks.map(({ bytes }) => openBlock(bytes).entryAt(0)),
      )
    }
  })

  it('is refused when it was cut short', () => {
    const piece = pieceOf([blockOf('map a', 100), blockOf('map b', 100)])
    for (const length of [0, 3, 20, piece.byteLength - 100]) expect(() => blocksOf(piece.subarray(0, length))).toThrow()
  })

  it('holds at most 1 MB; a block for which that is too little is refused', () => {
    const length = longest()
    const [piece, ...others] = dividePieces([blockOf('map a', length)]).map(pieceOf)
    expect(others).toEqual([])
    expect(piece?.byteLength).toBeLessThanOrEqual(PIECE_BYTES)
    expect(piece?.byteLength).toBeGreaterThan(PIECE_BYTES - 200)
    expect(() => dividePieces([blockOf('map a', length + 1)])).toThrow(RangeError)
  })

  it('takes the next block when there is room, in order', () => {
    const [large, small] = [blockOf('map a', 600_000), blockOf('map b', 300_000)]
    const sizes = (blocks: readonly SnapshotBlock[]) => dividePieces(blocks).map(({ length }) => length)
    expect(sizes([large, small, small, small, large])).toEqual([2, 2, 1])
    for (const blocks of dividePieces([large, small, small, small, large]))
      expect(pieceOf(blocks).byteLength).toBeLessThanOrEqual(PIECE_BYTES)
  })
})
