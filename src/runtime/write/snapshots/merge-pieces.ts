import type { StoredPiece } from './head.ts'
import { blocksOf, dividePieces, PIECE_BYTES, type SnapshotBlock } from './piece.ts'

/** Neighbouring pieces that are half empty, or half unneeded, before they are merged. */
const MERGED = 8
/** Pieces that are merged at a time. */
const MAX_MERGED = 16

/** A piece of the next snapshot: one that is stored already, or the blocks of one that is to be stored. */
export type PlannedPiece =
  | { readonly stored: StoredPiece; readonly names: readonly string[] }
  | readonly SnapshotBlock[]

const isNew = (piece: PlannedPiece): piece is readonly SnapshotBlock[] => Array.isArray(piece)

/** Bytes of a piece that are needed. */
function neededBytes(piece: PlannedPiece): number {
  return isNew(piece)
    ? piece.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    : piece.stored.parts.reduce((sum, [, bytes]) => sum + bytes, 0)
}

/**
 * Merges neighbouring pieces of which little is needed, so that their number stays small: every byte is written about
 * twice in all. `read` reads stored pieces.
 */
export async function mergePieces(
  pieces: readonly PlannedPiece[],
  read: (stored: readonly StoredPiece[]) => Promise<readonly Uint8Array[]>,
): Promise<readonly PlannedPiece[]> {
  const merged: PlannedPiece[] = []
  let group: PlannedPiece[] = []
  const close = async () => {
    merged.push(...(group.length < MERGED ? group : dividePieces(await blocksIn(group, read))))
    group = []
  }
  for (const piece of pieces) {
    const isSmall = neededBytes(piece) <= PIECE_BYTES / 2
    if (!isSmall || group.length === MAX_MERGED) await close()
    if (isSmall) group.push(piece)
    else merged.push(piece)
  }
  await close()
  return merged
}

/** The blocks of pieces that are needed, in order. */
async function blocksIn(
  pieces: readonly PlannedPiece[],
  read: (stored: readonly StoredPiece[]) => Promise<readonly Uint8Array[]>,
): Promise<readonly SnapshotBlock[]> {
  const bytes = (await read(pieces.flatMap((piece) => (isNew(piece) ? [] : [piece.stored])))).values()
  return pieces.flatMap((piece) => {
    if (isNew(piece)) return piece
    const needed = new Set(piece.stored.parts.map(([place]) => piece.names[place]))
    return blocksOf(bytes.next().value ?? new Uint8Array()).filter(({ part }) => needed.has(part))
  })
}
