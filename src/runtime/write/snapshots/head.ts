import { z } from 'zod'
import type { Entity } from '../../../kernel/entity.ts'

/**
 * Version of the storage format: of pieces, blocks and packed values. It is part of the keys, so that processes of
 * two versions keep their own snapshots side by side.
 */
const FORMAT = 3

/** Prefix of the keys of all heads. */
export const HEADS = 'snapshot:'
const PIECES = 'piece:'

const count = z.int().min(0)
const revision = z.int().min(-1)

/** A piece that a snapshot consists of, and the share of each part in it that is still needed. */
const storedPiece = z.object({
  number: count,
  bytes: count,
  checksum: z.int(),
  /** Parts by their place in `names`: the bytes and the entries of their blocks. */
  parts: z.array(z.tuple([count, count, count])).readonly(),
})
export type StoredPiece = Readonly<z.infer<typeof storedPiece>>

const head = z.object({
  /** -1 before the first snapshot. */
  revision,
  position: z.int(),
  /** Recorded time of the newest event; none in the heads of a version that did not write it. */
  at: z.string().optional(),
  /** Names of the parts. */
  names: z.array(z.string()).readonly(),
  /** In the order in which they apply. */
  pieces: z.array(storedPiece).readonly(),
  /** Milliseconds since the epoch. */
  savedAt: z.number(),
  /** Number of the next piece. Pieces from `taken` to here belong to snapshots that are being written, or were given up. */
  next: count,
  taken: count,
  /** Pieces that the snapshot before needed, and this one does not: they are deleted with the next one, so that readers can finish. */
  dropped: z.array(count).readonly(),
  /** Who writes the next snapshot, up to which revision, since when. */
  claim: z.object({ revision, owner: z.string(), at: z.number() }).nullable(),
})

/** The head of a stream's snapshot: it names the pieces, and is written after them. */
export type Head = Readonly<z.infer<typeof head>>

/** The head of a stream without a snapshot. */
export const NO_HEAD: Head = {
  revision: -1,
  position: -1,
  names: [],
  pieces: [],
  savedAt: 0,
  next: 0,
  taken: 0,
  dropped: [],
  claim: null,
}

/** A snapshot's stream and version of its state. */
export interface SnapshotId {
  readonly stream: string
  /** Version of the state, and of the format. */
  readonly version: string
}

/** The snapshot of a stream that this version of the code keeps. */
export function snapshotIdOf({ version }: Pick<Entity, 'version'>, stream: string): SnapshotId {
  return { stream, version: `${version}.${FORMAT}` }
}

/** Prefix of the keys of a stream's heads, one for each version. */
export function headsOf(stream: string): string {
  return `${HEADS}${stream}@`
}

export function headKey({ stream, version }: SnapshotId): string {
  return `${headsOf(stream)}${version}`
}

export function pieceKey({ stream, version }: SnapshotId, number: number): string {
  return `${PIECES}${stream}@${version}/${number}`
}

/** The snapshot that a head's key names. */
export function parseHeadKey(key: string): SnapshotId {
  const at = key.lastIndexOf('@')
  return { stream: key.slice(HEADS.length, at), version: key.slice(at + 1) }
}

/** A head as it is stored; null for what is none. */
export function parseHead(value: unknown): Head | null {
  return head.safeParse(value).data ?? null
}

/** What identifies one snapshot among those of its stream and version. */
export function stampOf({ revision, savedAt }: Head): string {
  return `${revision} ${savedAt}`
}

/** Every piece that a head says may be stored. */
export function storedNumbers({ pieces, dropped, taken, next }: Head): readonly number[] {
  const begun = Array.from({ length: next - taken }, (_, n) => taken + n)
  return [...pieces.map(({ number }) => number), ...dropped, ...begun]
}
