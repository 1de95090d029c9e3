import { yieldToEventLoop } from '../../../kernel/async/yield-to-event-loop.ts'
import type { Mark } from '../fold.ts'
import { checksumOf } from './checksum.ts'
import { type Head, headKey, NO_HEAD, type SnapshotId, type StoredPiece, stampOf } from './head.ts'
import { mergePieces, type PlannedPiece } from './merge-pieces.ts'
import { createPace } from './pace.ts'
import { dividePieces, PIECE_BYTES, pieceOf, type SnapshotBlock } from './piece.ts'
import { deletePieces, readHead, readPieces, type SnapshotPorts, writePieces } from './piece-store.ts'
import { blocksSince, namesOf, partsOf } from './snapshot-parts.ts'

/** How long another process is left to finish the snapshot that it began (ms). */
const CLAIM_MS = 30_000

/** What is to be saved. */
export interface SnapshotRequest {
  readonly id: SnapshotId
  /** Its layers are packed. */
  readonly mark: Mark
  /** Earlier marks: the snapshot is continued if it was made from one of them. */
  readonly known: readonly Mark[]
  /** The stored snapshot that could not be read (`stampOf` its head): it is replaced, not continued; null for none. */
  readonly damaged: string | null
  /** Name of this process among those that share the store. */
  readonly owner: string
}

/** What became of it: saved, up to date already, or left to another process that is at it. */
export type SnapshotOutcome = 'saved' | 'current' | 'elsewhere'

/** A piece that is to be stored. */
interface NewPiece {
  readonly number: number
  readonly bytes: Uint8Array
}

/**
 * Saves a snapshot: claims numbers for its pieces, stores them, then puts the head that names them. A crash in between
 * leaves the snapshot before and pieces that the head's numbers tell; the next snapshot deletes them.
 * @throws StoreUnavailable, DamagedSnapshot
 */
export async function saveSnapshot(ports: SnapshotPorts, request: SnapshotRequest): Promise<SnapshotOutcome> {
  const { ops, clock } = ports
  const { id, mark, damaged, owner } = request
  const stored = await readHead(ports, id)
  const old = stored.head ?? NO_HEAD
  const anew = stampOf(old) === damaged
  if (old.revision >= mark.revision && !anew) return 'current'
  const { claim: other } = old
  if (other && other.owner !== owner && Math.abs(clock.now() - other.at) < CLAIM_MS) return 'elsewhere'

  const planned = await planPieces(ports, request, anew ? { ...NO_HEAD, next: old.next } : old)
  const numbered = await numberPieces(planned, old.next)
  const claim = { revision: mark.revision, owner, at: clock.now() }
  const claimed: Head = { ...old, next: old.next + numbered.added.length, claim }
  if (!(await ops.putIf(headKey(id), stored.version, claimed, null, clock.now()))) return 'elsewhere'
  await writePieces(ports, id, numbered.added)
  await deletePieces(ports, id, old.dropped)
  const next = headAfter(claimed, numbered, mark, clock.now())
  if (Buffer.byteLength(JSON.stringify(next)) > PIECE_BYTES)
    throw new RangeError(`The snapshot of ${id.stream} has too many pieces.`)
  if (await ops.putIf(headKey(id), stored.version + 1, next, null, clock.now())) return 'saved'
  // Another process has begun a snapshot since: these pieces belong to none.
  await deletePieces(
    ports,
    id,
    numbered.added.map(({ number }) => number),
  )
  return 'elsewhere'
}

/** The pieces of the next snapshot: those of the last one that are needed, and new ones. */
async function planPieces(
  ports: SnapshotPorts,
  { id, mark, known }: SnapshotRequest,
  old: Head,
): Promise<readonly PlannedPiece[]> {
  const base = known.find(({ revision }) => revision === old.revision) ?? null
  const blocks = await blocksSince(mark, base, old, createPace())
  const names = namesOf(partsOf(mark))
  const replaced = new Set(blocks.flatMap(({ part, whole }) => (whole ? part : [])))
  const isNeeded = (place: number) => {
    const name = old.names[place] ?? ''
    return names.has(name) && !replaced.has(name)
  }
  const kept = old.pieces
    .map((piece) => ({ ...piece, parts: piece.parts.filter(([place]) => isNeeded(place)) }))
    .filter(({ parts }) => parts.length > 0)
  const pieces = [...kept.map((stored) => ({ stored, names: old.names })), ...dividePieces(blocks)]
  return mergePieces(pieces, (some) => readPieces(ports, id, some))
}

interface NumberedPieces {
  readonly names: readonly string[]
  readonly pieces: readonly StoredPiece[]
  readonly added: readonly NewPiece[]
}

/** Gives new pieces their numbers and bytes, and all pieces one list of names. */
async function numberPieces(planned: readonly PlannedPiece[], next: number): Promise<NumberedPieces> {
  const places = new Map<string, number>()
  const placeOf = (name: string) => {
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return place
  }
  const added: NewPiece[] = []
  const pieces: StoredPiece[] = []
  for (const piece of planned) {
    if ('stored' in piece) {
      const parts = piece.stored.parts.map(
        ([place, ...sums]) => [placeOf(piece.names[place] ?? ''), ...sums] as [number, number, number],
      )
      pieces.push({ ...piece.stored, parts })
      continue
    }
    // Putting a piece together and its checksum take a millisecond.
    await yieldToEventLoop()
    const bytes = pieceOf(piece)
    const number = next + added.length
    added.push({ number, bytes })
    const parts = sumsOf(piece).map(([name, ...sums]) => [placeOf(name), ...sums] as [number, number, number])
    pieces.push({ number, bytes: bytes.byteLength, checksum: checksumOf(bytes), parts })
  }
  return { names: [...places.keys()], pieces, added }
}

/** Bytes and entries of each part among blocks. */
function sumsOf(
  blocks: readonly SnapshotBlock[],
): readonly (readonly [name: string, bytes: number, entries: number])[] {
  return [...Map.groupBy(blocks, ({ part }) => part)].map(([part, some]) => [
    part,
    some.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
    some.reduce((sum, { entries }) => sum + entries, 0),
  ])
}

function headAfter(claimed: Head, { names, pieces }: NumberedPieces, mark: Mark, now: number): Head {
  const needed = new Set(pieces.map(({ number }) => number))
  const unneeded = [
    ...claimed.pieces.map(({ number }) => number),
    // Numbers of snapshots that were begun and never finished.
    ...Array.from({ length: claimed.next - claimed.taken }, (_, n) => claimed.taken + n),
  ].filter((number) => !needed.has(number))
  return {
    revision: mark.revision,
    position: mark.position,
    at: mark.at,
    names,
    pieces,
    savedAt: now,
    next: claimed.next,
    taken: claimed.next,
    dropped: unneeded,
    claim: null,
  }
}
