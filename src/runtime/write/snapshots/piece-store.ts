import { concurrently } from '../../../kernel/async/concurrently.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { OperationalStore } from '../../../ports/operational-store.ts'
import { checksumOf } from './checksum.ts'
import { headKey, parseHead, pieceKey, type SnapshotId, type StoredPiece } from './head.ts'

/** Pieces that are read or written at the same time. */
const AT_ONCE = 8

/** A piece is missing, or is not what was stored. */
export class DamagedSnapshot extends Error {
  override readonly name = 'DamagedSnapshot'
}

export interface SnapshotPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
}

/** A snapshot's head, null for none that can be read, and the version of its entry. @throws StoreUnavailable */
export async function readHead({ ops, clock }: SnapshotPorts, id: SnapshotId) {
  const entry = await ops.get(headKey(id), clock.now())
  return { head: parseHead(entry?.value), version: entry?.version ?? 0 }
}

/** Reads pieces, whole and undamaged, in their order. @throws DamagedSnapshot, StoreUnavailable */
export async function readPieces(
  { ops, clock }: SnapshotPorts,
  id: SnapshotId,
  pieces: readonly Pick<StoredPiece, 'number' | 'bytes' | 'checksum'>[],
): Promise<readonly Uint8Array[]> {
  return concurrently(pieces, AT_ONCE, async ({ number, bytes, checksum }) => {
    const entry = await ops.get(pieceKey(id, number), clock.now())
    const piece = entry?.value
    const isWhole = piece instanceof Uint8Array && piece.byteLength === bytes && checksumOf(piece) === checksum
    if (!isWhole) throw new DamagedSnapshot(`Piece ${number} of the snapshot of ${id.stream} is missing or damaged.`)
    return piece
  })
}

/** Stores pieces under their numbers. @throws StoreUnavailable */
export async function writePieces(
  { ops }: SnapshotPorts,
  id: SnapshotId,
  pieces: readonly { readonly number: number; readonly bytes: Uint8Array }[],
): Promise<void> {
  await concurrently(pieces, AT_ONCE, ({ number, bytes }) => ops.put(pieceKey(id, number), bytes, null))
}

/** Deletes pieces. @throws StoreUnavailable */
export async function deletePieces({ ops }: SnapshotPorts, id: SnapshotId, numbers: readonly number[]): Promise<void> {
  await concurrently(numbers, AT_ONCE, (number) => ops.delete(pieceKey(id, number)))
}
