import { PARTITIONS, type PartitionRange } from '../../kernel/partition.ts'
import { START } from '../../ports/event-log.ts'
import type { Checkpoint } from '../../ports/read-store.ts'
import type { DonePartitions } from '../lanes/running-lane.ts'
import { isLaneKey, parseLaneKey } from '../ownership/lane.ts'

/** How far consecutive partitions have come. `at`: recorded time of the last event seen there (ISO). */
export interface RangeProgress {
  readonly range: PartitionRange
  readonly position: number
  readonly at: string | null
}

type Progress = Omit<RangeProgress, 'range'>

const NOTHING: Progress = { position: START, at: null }

/** Cuts overlapping ranges into disjoint ones in order, each with the furthest progress that covers it; null for none. */
function disjoint(
  lanes: readonly RangeProgress[],
): readonly { readonly range: PartitionRange; readonly progress: Progress | null }[] {
  const starts = new Set([0, ...lanes.flatMap(({ range }) => [range.from, range.to + 1])])
  const edges = [...starts].filter((edge) => edge < PARTITIONS).toSorted((one, other) => one - other)
  return edges.map((from, index) => {
    const range = { from, to: (edges[index + 1] ?? PARTITIONS) - 1 }
    const covering = lanes.filter((lane) => lane.range.from <= from && lane.range.to >= range.to)
    const [first, ...others] = covering
    if (!first) return { range, progress: null }
    const { position, at } = others.reduce((best, lane) => (lane.position > best.position ? lane : best), first)
    return { range, progress: { position, at } }
  })
}

/** The ranges that have any progress, disjoint and in order, each as far as the furthest that covers it. */
export function coveredRanges(lanes: readonly RangeProgress[]): readonly RangeProgress[] {
  return disjoint(lanes).flatMap(({ range, progress }) => (progress ? [{ range, ...progress }] : []))
}

/**
 * How far builds have come, by the name of their checkpoints without a range: in disjoint ranges in order, for each
 * partition the furthest checkpoint that covers it (START where none does), whatever number of shards it was written under.
 */
export function createCoverages(
  checkpoints: Readonly<Record<string, Progress>>,
): (build: string) => readonly RangeProgress[] {
  const named = Object.entries(checkpoints).flatMap(([name, { position, at }]) => {
    if (!isLaneKey(name)) return []
    const { group, range } = parseLaneKey(name)
    return [{ group, progress: { range, position, at } }]
  })
  const byBuild = Map.groupBy(named, ({ group }) => group)
  return (build) =>
    disjoint((byBuild.get(build) ?? []).map(({ progress }) => progress)).map(({ range, progress }) => ({
      range,
      ...(progress ?? NOTHING),
    }))
}

/** How far one build has come. */
export function coverageOf(
  checkpoints: Readonly<Record<string, Pick<Checkpoint, 'position' | 'at'>>>,
  build: string,
): readonly RangeProgress[] {
  return createCoverages(checkpoints)(build)
}

/** The progress of the partition that has come least far, of all or of a range. */
export function lowestOf(coverage: readonly RangeProgress[], within?: PartitionRange): Progress {
  const { from, to } = within ?? { from: 0, to: PARTITIONS - 1 }
  const all = coverage.filter(({ range }) => range.from <= to && from <= range.to)
  const [first, ...rest] = all
  if (!first) return NOTHING
  const { position, at } = rest.reduce((lowest, one) => (one.position < lowest.position ? one : lowest), first)
  return { position, at }
}

/** The parts of a range that are further than a position. */
export function aheadOf(
  coverage: readonly RangeProgress[],
  { from, to }: PartitionRange,
  position: number,
): readonly DonePartitions[] {
  return coverage.filter((one) => one.range.from <= to && from <= one.range.to && one.position > position)
}
