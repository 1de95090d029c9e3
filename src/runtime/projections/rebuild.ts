import type { AnyProjection } from '../../kernel/projection.ts'
import type { CollectionSpec, ReadStore } from '../../ports/read-store.ts'
import { ALIAS_CACHE_MS } from './active-builds.ts'
import {
  BUILD_ALIASES,
  type BuildAlias,
  type BuildNames,
  buildNames,
  changeAlias,
  compareAndSetAlias,
  readAliases,
  type StoredAlias,
} from './build-names.ts'
import { createBuild, type ProjectionBuild } from './projection-build.ts'

/** How long a build is kept after another took its place (ms): longer than any reader believes an old pointer. */
export const RETIRED_BUILD_TTL_MS = 20 * ALIAS_CACHE_MS

const retire = (pointer: BuildAlias, place: BuildNames | null, now: number): BuildAlias['retired'] =>
  place === null ? pointer.retired : [...pointer.retired, { ...place, at: now }]

/**
 * The pointer that a projection's code asks for, given the one that stands; null when it is right as it is.
 * A newer version is built beside the old, which answers until then. Code older than the active build leaves it alone.
 */
function nextAlias(
  projection: AnyProjection,
  current: BuildAlias | null,
  generation: number,
  now: number,
): BuildAlias | null {
  if (current === null) return { active: buildNames(projection), building: null, retired: [] }
  const { active, building } = current
  if (active.version >= projection.version) return null
  if (building !== null && building.version >= projection.version) return null
  return { active, building: buildNames(projection, generation), retired: retire(current, building, now) }
}

/** What the store must have for one build. Followed collections get an index on the position that they were folded to. */
export function collectionSpec(projection: AnyProjection, collection: string, followed: boolean): CollectionSpec {
  return {
    name: collection,
    indexes: followed ? [...projection.indexes, { _position: 1 }] : projection.indexes,
    columns: projection.columns,
  }
}

/** Brings the pointers up to what the code asks for, and answers them. @throws StoreUnavailable */
export async function syncAliases(
  store: ReadStore,
  projections: readonly AnyProjection[],
  now: number,
): Promise<readonly StoredAlias[]> {
  const stored = await readAliases(store)
  const pointers = projections.map((projection) => {
    const known = stored.get(projection.name)
    if (known && nextAlias(projection, known.alias, known.generation + 1, now) === null) return known
    return changeAlias(store, projection.name, (current, generation) => nextAlias(projection, current, generation, now))
  })
  return (await Promise.all(pointers)).filter((pointer) => pointer !== null)
}

/** The builds of a projection that this code can fold, as lanes; those that exist already stay. */
export function buildsFor(
  projection: AnyProjection,
  { alias }: StoredAlias,
  existing: readonly ProjectionBuild[],
): readonly ProjectionBuild[] {
  const builds = [
    { place: alias.active, building: false },
    { place: alias.building, building: true },
  ]
  return builds.flatMap(({ place, building }) => {
    if (place === null || place.version !== projection.version) return []
    const known = existing.find((lane) => lane.names.collection === place.collection)
    if (!known) return [createBuild(projection, place, building)]
    known.building = building
    return [known]
  })
}

/**
 * Asks for a new build of a projection beside the active one; any runner of it takes it up. Answers whether it was this
 * that began one: it has no effect while one is under way.
 */
export async function requestRebuild(store: ReadStore, projection: AnyProjection): Promise<boolean> {
  await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
  const { moved } = await compareAndSetAlias(store, projection.name, (current, generation) => {
    const pointer = current ?? { active: buildNames(projection), building: null, retired: [] }
    return pointer.building === null ? { ...pointer, building: buildNames(projection, generation) } : null
  })
  return moved
}

/** Makes a finished build the active one, and the one before it ready to be dropped. */
export async function switchBuild(store: ReadStore, lane: ProjectionBuild, now: number): Promise<void> {
  await changeAlias(store, lane.projection.name, (current) =>
    current?.building?.collection === lane.names.collection
      ? { active: current.building, building: null, retired: retire(current, current.active, now) }
      : null,
  )
}

/** Drops the builds that nobody can be reading any more. */
export async function dropRetiredBuilds(store: ReadStore, stored: StoredAlias, now: number): Promise<void> {
  const over = stored.alias.retired.filter(({ at }) => now - at >= RETIRED_BUILD_TTL_MS)
  if (over.length === 0) return
  for (const { collection, checkpoint } of over) await store.drop(collection, checkpoint)
  const dropped = new Set(over.map(({ collection }) => collection))
  await changeAlias(store, stored.name, (current) => {
    const retired = current?.retired.filter(({ collection }) => !dropped.has(collection))
    return current && retired && retired.length < current.retired.length ? { ...current, retired } : null
  })
}

/** How a build is getting on. `total` is judged by the share of the log's positions passed; exact where they are dense. */
export interface RebuildProgress {
  readonly name: string
  /** Events read that any projection hears of, and expected in all. */
  readonly done: number
  readonly total: number
  readonly perSecond: number
  /** Null before anything has been read. */
  readonly secondsLeft: number | null
}

/** Progress of a lane that began at `start` (position, ms) towards the log's head. */
export function rebuildProgress(
  lane: ProjectionBuild,
  start: { readonly position: number; readonly at: number },
  head: number,
  now: number,
): RebuildProgress {
  const done = lane.seen
  const passed = (lane.position ?? start.position) - start.position
  const share = head <= start.position ? 1 : Math.min(1, passed / (head - start.position))
  const perSecond = done / Math.max(0.001, (now - start.at) / 1_000)
  const total = share > 0 ? Math.max(done, Math.round(done / share)) : done
  return {
    name: lane.projection.name,
    done,
    total,
    perSecond,
    secondsLeft: perSecond > 0 && share > 0 ? (total - done) / perSecond : share === 1 ? 0 : null,
  }
}
