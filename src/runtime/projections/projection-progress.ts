import { type PartitionRange, rangeText } from '../../kernel/partition.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import type { StoredLease } from '../ownership/leases.ts'
import { instanceOf } from '../ownership/presence.ts'
import { buildsOf, readAliases, readableBuild } from './build-alias.ts'
import type { BuildNames } from './build-names.ts'
import { createCoverages, lowestOf, type RangeProgress } from './coverage.ts'

/** A range of a build's partitions: how far it is, and which process holds its lease (null: none that lives). */
export interface BuildLane {
  readonly range: PartitionRange
  readonly position: number
  readonly holder: string | null
}

/** A build of a projection. */
export interface BuildProgress {
  readonly version: number
  /** Whether processes of its version read it; otherwise it is being built. */
  readonly active: boolean
  /** Checkpoint where it has come least far; null before its first batch. */
  readonly checkpoint: Checkpoint | null
  readonly lanes: readonly BuildLane[]
  /** For how long (ms) no living process has folded some of its partitions; infinite where none has been seen to. */
  readonly unownedMs: number
}

/** How far a projection has read, from the store's checkpoints: any process can read it, whichever runs the projection. */
export interface ProjectionProgress {
  readonly name: string
  /** The version that this code knows. */
  readonly version: number
  /** The build of this version that is read; null until the first one is complete. */
  readonly active: BuildProgress | null
  /** The build of this version that is being built; null for none. */
  readonly building: BuildProgress | null
  /** The builds of other versions of the code. */
  readonly others: readonly BuildProgress[]
}

/** Who holds lanes: the leases, and which owners live. */
export interface LaneHolders {
  readonly leases: ReadonlyMap<string, StoredLease>
  readonly isAlive: (owner: string) => boolean
  /** For how long (ms) some of a build's partitions have had no living owner. */
  readonly unownedMs: (build: string) => number
}

/** The holder of the lease of a range: of the lane itself, or of one that has all of its partitions. */
function holderOf({ leases, isAlive }: LaneHolders, build: string, { from, to }: PartitionRange): string | null {
  const held =
    leases.get(`${build}/${rangeText({ from, to })}`) ??
    [...leases.values()].find(({ lane }) => {
      return lane.group === build && lane.range.from <= from && lane.range.to >= to
    })
  return held?.owner && isAlive(held.owner) ? instanceOf(held.owner) : null
}

function buildProgress(
  { version, checkpoint: build }: BuildNames,
  active: boolean,
  coverage: readonly RangeProgress[],
  holders: LaneHolders,
): BuildProgress {
  const { position, at } = lowestOf(coverage)
  return {
    version,
    active,
    checkpoint: position === START ? null : { position, at },
    lanes: coverage.map(({ range, position: reached }) => ({
      range,
      position: reached,
      holder: holderOf(holders, build, range),
    })),
    unownedMs: holders.unownedMs(build),
  }
}

/** Progress of projections. @throws StoreUnavailable */
export async function readProgress(
  store: ReadStore,
  projections: readonly AnyProjection[],
  holders: LaneHolders,
): Promise<readonly ProjectionProgress[]> {
  const [aliases, checkpoints] = [await readAliases(store), await store.checkpoints()]
  const coverages = createCoverages(checkpoints)
  const progressOf = (names: BuildNames | null, active: boolean) =>
    names && buildProgress(names, active, coverages(names.checkpoint), holders)
  return projections.map((projection) => {
    const { name, version } = projection
    const alias = aliases.get(name)?.alias ?? null
    const others = alias?.versions.filter((builds) => builds.version !== version) ?? []
    return {
      name,
      version,
      active: progressOf(readableBuild(projection, alias), true),
      building: progressOf(alias && buildsOf(alias, version).building, false),
      others: others
        .flatMap(({ active, building }) => [progressOf(active, true), progressOf(building, false)])
        .filter((build) => build !== null),
    }
  })
}
