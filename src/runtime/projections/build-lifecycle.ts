import type { AnyProjection } from '../../kernel/projection.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { ALIAS_CACHE_MS } from './active-builds.ts'
import {
  type BuildAlias,
  changeAlias,
  compareAndSetAlias,
  ensureAliases,
  readAliases,
  type StoredAlias,
} from './build-alias.ts'
import { type BuildNames, buildNames } from './build-names.ts'

// The life of a build: a new version or a forced rebuild is built beside the active build (`building`), becomes the
// active one when it has caught up (`switchBuild`), and is retired by the next; retired builds are dropped later.

/** How long a retired build is kept (ms): longer than any reader uses a cached alias. */
export const RETIRED_BUILD_TTL_MS = 20 * ALIAS_CACHE_MS

const retire = (alias: BuildAlias, build: BuildNames | null, now: number): BuildAlias['retired'] =>
  build === null ? alias.retired : [...alias.retired, { ...build, at: now }]

/**
 * The alias that a projection's code needs, given the current one; null when that is right as it is. A newer version is
 * built beside the active build, which is read until the switch. Code older than the active build changes nothing.
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

/** Brings the aliases up to what the projections' code needs, and returns them. @throws StoreUnavailable */
export async function syncAliases(
  store: ReadStore,
  projections: readonly AnyProjection[],
  now: number,
): Promise<readonly StoredAlias[]> {
  const stored = await readAliases(store)
  const aliases = projections.map((projection) => {
    const current = stored.get(projection.name)
    if (current && nextAlias(projection, current.alias, current.generation + 1, now) === null) return current
    return changeAlias(store, projection.name, (alias, generation) => nextAlias(projection, alias, generation, now))
  })
  return (await Promise.all(aliases)).filter((alias) => alias !== null)
}

/**
 * Requests a rebuild of a projection beside the active build; any runner of it builds it. Resolves to whether this call
 * started one: it has no effect while one runs. @throws StoreUnavailable
 */
export async function requestRebuild(store: ReadStore, projection: AnyProjection): Promise<boolean> {
  await ensureAliases(store)
  const { moved } = await compareAndSetAlias(store, projection.name, (current, generation) => {
    const alias = current ?? { active: buildNames(projection), building: null, retired: [] }
    return alias.building === null ? { ...alias, building: buildNames(projection, generation) } : null
  })
  return moved
}

/** Makes a build that has caught up the active one, and retires the active one before it. @throws StoreUnavailable */
export async function switchBuild(
  store: ReadStore,
  { projection, names }: { readonly projection: AnyProjection; readonly names: BuildNames },
  now: number,
): Promise<void> {
  await changeAlias(store, projection.name, (current) =>
    current?.building?.collection === names.collection
      ? { active: current.building, building: null, retired: retire(current, current.active, now) }
      : null,
  )
}

/** Drops the retired builds that no reader can use any more. @throws StoreUnavailable */
export async function dropRetiredBuilds(store: ReadStore, stored: StoredAlias, now: number): Promise<void> {
  const expired = stored.alias.retired.filter(({ at }) => now - at >= RETIRED_BUILD_TTL_MS)
  if (expired.length === 0) return
  for (const { collection, checkpoint } of expired) await store.drop(collection, checkpoint)
  const dropped = new Set(expired.map(({ collection }) => collection))
  await changeAlias(store, stored.name, (current) => {
    const retired = current?.retired.filter(({ collection }) => !dropped.has(collection))
    return current && retired && retired.length < current.retired.length ? { ...current, retired } : null
  })
}
