import { z } from 'zod'

/*
 * A piece is what a snapshot stores under one key: the length of its table of contents, the table (JSON), then its
 * blocks, each at a multiple of four.
 */

/** Maximum bytes of a stored piece (Architecture §2: at most 1 MB). */
export const PIECE_BYTES = 1_000_000
const WORD = 4

/** A block of a snapshot, and what it is a part of. */
export interface SnapshotBlock {
  /** The part of the state that it belongs to (`parts.ts`). */
  readonly part: string
  /** Revision up to which it has the part's entries. */
  readonly upTo: number
  /** Whether earlier blocks of the part no longer apply. */
  readonly whole: boolean
  /** Number of its entries. */
  readonly entries: number
  readonly bytes: Uint8Array
}

const contents = z
  .array(
    z.object({
      part: z.string(),
      upTo: z.int(),
      whole: z.boolean(),
      entries: z.int().min(0),
      bytes: z.int().min(0),
    }),
  )
  .readonly()

const aligned = (bytes: number) => Math.ceil(bytes / WORD) * WORD

function tableOf(blocks: readonly SnapshotBlock[]): Buffer {
  return Buffer.from(JSON.stringify(blocks.map(({ bytes, ...block }) => ({ ...block, bytes: bytes.byteLength }))))
}

/** The bytes of a piece with these blocks. */
export function pieceOf(blocks: readonly SnapshotBlock[]): Uint8Array<ArrayBuffer> {
  const table = tableOf(blocks)
  const start = aligned(WORD + table.byteLength)
  const size = blocks.reduce((sum, { bytes }) => sum + aligned(bytes.byteLength), start)
  const piece = Buffer.from(new ArrayBuffer(size))
  piece.writeUInt32LE(table.byteLength, 0)
  table.copy(piece, WORD)
  let at = start
  for (const { bytes } of blocks) {
    piece.set(bytes, at)
    at += aligned(bytes.byteLength)
  }
  return piece
}

/** Bytes of a block in a piece, with its line in the table; a little more than it takes. */
function sizeIn({ part, bytes }: SnapshotBlock): number {
  return aligned(bytes.byteLength) + 4 * part.length + 100
}

/**
 * Divides blocks, in their order, among pieces.
 * @throws RangeError for a block that no piece can hold
 */
export function dividePieces(blocks: readonly SnapshotBlock[]): readonly (readonly SnapshotBlock[])[] {
  const pieces: SnapshotBlock[][] = []
  let room = 0
  for (const block of blocks) {
    const size = sizeIn(block)
    if (size > PIECE_BYTES) throw new RangeError(`A block of ${block.part} is larger than a piece of a snapshot.`)
    if (size > room) {
      pieces.push([])
      room = PIECE_BYTES
    }
    pieces.at(-1)?.push(block)
    room -= size
  }
  return pieces
}

/** The blocks of a piece, over the same bytes. @throws Error for bytes that are no piece */
export function blocksOf(piece: Uint8Array): readonly SnapshotBlock[] {
  // The lists of a block are read in words, which begin at multiples of four in their buffer.
  const bytes = piece.byteOffset % WORD === 0 ? piece : new Uint8Array(piece)
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = view.readUInt32LE(0)
  const table = contents.parse(JSON.parse(view.toString('utf8', WORD, WORD + length)))
  let at = aligned(WORD + length)
  return table.map(({ bytes: size, ...block }) => {
    const start = at
    at += aligned(size)
    if (at > bytes.byteLength) throw new RangeError('A piece of a snapshot ends inside a block.')
    return { ...block, bytes: bytes.subarray(start, start + size) }
  })
}
