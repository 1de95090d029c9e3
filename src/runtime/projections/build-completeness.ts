import type { AnyProjection } from '../../kernel/projection.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import { buildsOf, readAliases, type StoredAlias } from './build-alias.ts'
import type { BuildNames } from './build-names.ts'
import { coverageOf, lowestOf, type RangeProgress } from './coverage.ts'

/** The builds of the projections and how far they have come, as stored. */
export interface StoredBuilds {
  readonly aliases: ReadonlyMap<string, StoredAlias>
  readonly checkpoints: Readonly<Record<string, Checkpoint>>
}

/** Reads the aliases, then the checkpoints. @throws StoreUnavailable */
export async function readStoredBuilds(store: ReadStore): Promise<StoredBuilds> {
  return { aliases: await readAliases(store), checkpoints: await store.checkpoints() }
}

/** Whether the stored checkpoints of a build leave no event of before a position. @throws LogUnavailable, StoreUnavailable */
export async function hasReached(
  log: Pick<EventLog, 'readAll'>,
  { events: schemas }: AnyProjection,
  coverage: readonly RangeProgress[],
  position: number,
): Promise<boolean> {
  const reached = lowestOf(coverage).position
  if (reached >= position) return true
  const types = new Set(Object.keys(schemas))
  const { events, end } = await log.readAll(reached, 1, { types })
  const [next] = events
  return next ? next.position > position : end
}

/** Whether a build has come as far as another one in every partition. */
export function isAsFarAs(built: readonly RangeProgress[], other: readonly RangeProgress[]): boolean {
  return other.every(({ range, position }) => lowestOf(built, range).position >= position)
}

/**
 * Whether the stored checkpoints say that a build has come as far as the active one of its version, and has no event of before a
 * position left. @throws LogUnavailable
 */
export async function isBuildComplete(
  log: Pick<EventLog, 'readAll'>,
  { aliases, checkpoints }: StoredBuilds,
  { projection, names }: { readonly projection: AnyProjection; readonly names: BuildNames },
  position: number,
): Promise<boolean> {
  const alias = aliases.get(projection.name)?.alias
  const builds = alias && buildsOf(alias, names.version)
  if (builds?.building?.collection !== names.collection) return false
  const built = coverageOf(checkpoints, names.checkpoint)
  const active = builds.active ? coverageOf(checkpoints, builds.active.checkpoint) : []
  return isAsFarAs(built, active) && (await hasReached(log, projection, built, position))
}
