import type { AnyProjection } from '../../kernel/projection.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { ALIAS_CACHE_MS } from './active-builds.ts'
import {
  type BuildAlias,
  buildsOf,
  changeAlias,
  compareAndSetAlias,
  ensureAliases,
  readAliases,
  type StoredAlias,
  type VersionBuilds,
  withBuilds,
} from './build-alias.ts'
import { type BuildNames, buildNames } from './build-names.ts'

// The life of a build: each version of the code has builds of its own. A new version, or a forced rebuild, is built
// (`building`) beside the builds that are read, becomes the active one of its version when it has caught up
// (`switchBuild`), and is retired by the next one, or when no process of its version lives (`unread-builds.ts`). Retired
// builds are dropped later.

/** How long a retired build is kept (ms): longer than any reader uses a cached alias. */
export const RETIRED_BUILD_TTL_MS = 20 * ALIAS_CACHE_MS

const firstAlias = (projection: AnyProjection): BuildAlias => ({
  versions: [{ version: projection.version, active: buildNames(projection), building: null }],
  retired: [],
})

const retire = (alias: BuildAlias, ...builds: readonly (BuildNames | null)[]): BuildAlias => ({
  ...alias,
  retired: [...alias.retired, ...builds.filter((build) => build !== null)],
})

/**
 * The alias that a projection's code needs, given the current one; null when that is right as it is. The first build of
 * all is read at once; one of another version is built beside those that others read.
 */
function nextAlias(projection: AnyProjection, current: BuildAlias | null, generation: number): BuildAlias | null {
  if (current === null) return firstAlias(projection)
  const { version } = projection
  const { active, building } = buildsOf(current, version)
  if (active !== null || building !== null) return null
  return withBuilds(current, { version, active, building: buildNames(projection, generation) })
}

/** Brings the aliases up to what the projections' code needs, and returns them. @throws StoreUnavailable */
export async function syncAliases(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<readonly StoredAlias[]> {
  const stored = await readAliases(store)
  // Also when the database was emptied under this process.
  if (stored.size === 0) await ensureAliases(store)
  const aliases = projections.map((projection) => {
    const current = stored.get(projection.name)
    if (current && nextAlias(projection, current.alias, current.generation + 1) === null) return current
    return changeAlias(store, projection.name, (alias, generation) => nextAlias(projection, alias, generation))
  })
  return (await Promise.all(aliases)).filter((alias) => alias !== null)
}

/**
 * Requests a rebuild of a projection beside the active build of its version; any runner of that version builds it, and switches to
 * it when it has caught up. `held`: the caller compares it with the active build, if there is one, and switches itself.
 * Resolves to whether this call started one: while one runs, it goes on, and only who switches it changes. @throws StoreUnavailable
 */
export async function requestRebuild(
  store: ReadStore,
  projection: AnyProjection,
  { held = false } = {},
): Promise<boolean> {
  await ensureAliases(store)
  let started = false
  const { moved } = await compareAndSetAlias(store, projection.name, (current, generation) => {
    const alias = current ?? firstAlias(projection)
    const builds = buildsOf(alias, projection.version)
    const isHeld = held && builds.active !== null
    started = builds.building === null
    if (!started && isHeld === (builds.held ?? false)) return null
    const building = builds.building ?? buildNames(projection, generation)
    return withBuilds(alias, { ...unheld(builds), building, ...(isHeld ? { held: true } : {}) })
  })
  return moved && started
}

const unheld = ({ held: _held, ...builds }: VersionBuilds): VersionBuilds => builds

/** Makes a build that has caught up the active one of its version, and retires the one before it. @throws StoreUnavailable */
export async function switchBuild(
  store: ReadStore,
  { projection, names }: { readonly projection: AnyProjection; readonly names: BuildNames },
): Promise<void> {
  await changeAlias(store, projection.name, (current) => {
    if (current === null) return null
    const builds = buildsOf(current, names.version)
    if (builds.building?.collection !== names.collection) return null
    return retire(withBuilds(current, { ...unheld(builds), active: builds.building, building: null }), builds.active)
  })
}

/** Retires a build that is not to be read, and leaves the active one of its version. @throws StoreUnavailable */
export async function abandonBuild(
  store: ReadStore,
  { projection, names }: { readonly projection: AnyProjection; readonly names: BuildNames },
): Promise<void> {
  await changeAlias(store, projection.name, (current) => {
    if (current === null) return null
    const builds = buildsOf(current, names.version)
    if (builds.building?.collection !== names.collection) return null
    return retire(withBuilds(current, { ...unheld(builds), building: null }), builds.building)
  })
}

/** Retires the builds of a version of a projection. @throws StoreUnavailable */
export async function retireVersion(store: ReadStore, name: string, version: number): Promise<void> {
  await changeAlias(store, name, (current) => {
    if (!current?.versions.some((one) => one.version === version)) return null
    const builds = buildsOf(current, version)
    return retire(withBuilds(current, { version, active: null, building: null }), builds.active, builds.building)
  })
}

/** Drops the retired builds of these collections, and resolves to them. @throws StoreUnavailable */
export async function dropRetiredBuilds(
  store: ReadStore,
  stored: StoredAlias,
  collections: ReadonlySet<string>,
): Promise<readonly BuildNames[]> {
  const expired = stored.alias.retired.filter(({ collection }) => collections.has(collection))
  if (expired.length === 0) return []
  for (const { collection, checkpoint } of expired) await store.drop(collection, checkpoint)
  await changeAlias(store, stored.name, (current) => {
    const retired = current?.retired.filter(({ collection }) => !collections.has(collection))
    return current && retired && retired.length < current.retired.length ? { ...current, retired } : null
  })
  return expired
}
