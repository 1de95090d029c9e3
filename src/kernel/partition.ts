import { sha256 } from './sha256.ts'

/** Partitions of the streams (Architecture §2): a workspace's streams share one, a stream without a workspace has its own. */
export const PARTITIONS = 256

/** Consecutive partitions, both ends inclusive. */
export interface PartitionRange {
  readonly from: number
  readonly to: number
}

/** Every partition. */
export const ALL_PARTITIONS: PartitionRange = { from: 0, to: PARTITIONS - 1 }

/** Partitions of the ids asked for lately: a call asks for that of its workspace dozens of times. */
const known = new Map<string, number>()
const MAX_KNOWN = 10_000

/** Partition of a workspace, or of a stream that belongs to none, by its id: the first byte of the id's SHA-256. */
export function partitionOf(id: string): number {
  const found = known.get(id)
  if (found !== undefined) return found
  const partition = Number.parseInt(sha256(id).slice(0, 2), 16)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(id, partition)
  return partition
}

/** Two hex digits of a partition, as stream names and checkpoints carry them. */
export function partitionText(partition: number): string {
  return partition.toString(16).padStart(2, '0')
}

/** Whether a range has a partition. */
export function inRange({ from, to }: PartitionRange, partition: number): boolean {
  return partition >= from && partition <= to
}

/** Whether a range has every partition. */
export function isWhole({ from, to }: PartitionRange): boolean {
  return from === 0 && to === PARTITIONS - 1
}

/** Whether ranges have every partition between them. They may overlap. */
export function coverAll(ranges: readonly PartitionRange[]): boolean {
  const inOrder = ranges.toSorted((one, other) => one.from - other.from)
  return inOrder.reduce((next, { from, to }) => (from <= next ? Math.max(next, to + 1) : next), 0) === PARTITIONS
}

/** Name of a range: `00-ff`. */
export function rangeText({ from, to }: PartitionRange): string {
  return `${partitionText(from)}-${partitionText(to)}`
}

/** The partition ranges of the given number of shards, in order. @throws RangeError when the number of shards does not divide the partitions */
export function rangesOf(shards: number): readonly PartitionRange[] {
  if (!Number.isInteger(shards) || shards < 1 || PARTITIONS % shards !== 0)
    throw new RangeError(`${shards} shards do not divide ${PARTITIONS} partitions.`)
  const size = PARTITIONS / shards
  return Array.from({ length: shards }, (_, index) => ({ from: index * size, to: (index + 1) * size - 1 }))
}
