import { ALL_PARTITIONS, type PartitionRange, rangesOf, rangeText } from '../../kernel/partition.ts'

/** What is cut into lanes: a build of a projection, a reaction, the timers. `shards`: into how many (1: it has one lane). */
export interface LaneGroup {
  readonly name: string
  readonly shards: number
}

/** A lane of work: a group for a range of partitions. One process owns it at a time. */
export interface Lane {
  /** `<group>/<range>`, as leases and checkpoints name it. */
  readonly key: string
  readonly group: string
  readonly range: PartitionRange
}

/** The lane of a group and a range. */
export function laneOf(group: string, range: PartitionRange = ALL_PARTITIONS): Lane {
  return { key: `${group}/${rangeText(range)}`, group, range }
}

/** Whether a checkpoint or a lease is a lane's. */
export function isLaneKey(name: string): boolean {
  return name.includes('/')
}

/** The lanes of a group. */
export function lanesOf({ name, shards }: LaneGroup): readonly Lane[] {
  return rangesOf(shards).map((range) => laneOf(name, range))
}

/** The lane of a key. @throws Error for a text that is no key */
export function parseLaneKey(key: string): Lane {
  const slash = key.lastIndexOf('/')
  const [, from, to] = /^([0-9a-f]{2})-([0-9a-f]{2})$/.exec(key.slice(slash + 1)) ?? []
  if (slash < 0 || from === undefined || to === undefined) throw new Error(`${key} names no lane.`)
  const range = { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }
  return { key, group: key.slice(0, slash), range }
}

/** Whether two lanes of one group share a partition without being the same lane, as those of different numbers of shards do. */
export function overlaps(one: Lane, other: Lane): boolean {
  if (one.group !== other.group || one.key === other.key) return false
  return one.range.from <= other.range.to && other.range.from <= one.range.to
}

/** Lanes of the same partitions beside each other: a process that owns neighbours reads a part of the log alone. */
export function inOrder<L extends Lane>(lanes: Iterable<L>): readonly L[] {
  return [...lanes].toSorted(
    (one, other) =>
      one.range.from - other.range.from || one.range.to - other.range.to || (one.group < other.group ? -1 : 1),
  )
}

/** The smallest range that has the partitions of all lanes. */
export function hullOf(lanes: readonly Pick<Lane, 'range'>[]): PartitionRange {
  return {
    from: Math.min(...lanes.map(({ range }) => range.from)),
    to: Math.max(...lanes.map(({ range }) => range.to)),
  }
}
