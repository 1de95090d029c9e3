import { z } from 'zod'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { type BuildNames, buildNames } from './build-names.ts'
import { createCoverages, lowestOf, type RangeProgress } from './coverage.ts'

const names = z.object({ version: z.number(), collection: z.string(), checkpoint: z.string() })
const versionBuilds = z.object({
  version: z.number(),
  /** The build that processes of this version of the code read; null until the first one is complete. */
  active: names.nullable(),
  /** The build that takes its place once it has caught up; null for none. */
  building: names.nullable(),
  /** Whether the build that is being built waits, when it has caught up, for whoever asked for it to compare and switch it. */
  held: z.boolean().optional(),
})
const aliasDoc = z.object({ versions: z.array(versionBuilds), retired: z.array(names) })

/** The builds of one version of a projection. */
export type VersionBuilds = Readonly<z.infer<typeof versionBuilds>>

/** The builds of a projection: those of each version of the code that is in use, and those that wait to be dropped. */
export type BuildAlias = Readonly<z.infer<typeof aliasDoc>>

/** An alias as stored. `generation` grows with each change, so no build ever takes the name of another. */
export interface StoredAlias {
  readonly name: string
  readonly generation: number
  readonly alias: BuildAlias
}

/** Collection of the aliases, one document for each projection. */
export const BUILD_ALIASES = 'active'

const parse = ({ id, position, doc }: StoredDocument): StoredAlias => ({
  name: id,
  generation: position,
  alias: aliasDoc.parse(doc),
})

/** Creates the collection of the aliases where it is missing. @throws StoreUnavailable */
export async function ensureAliases(store: ReadStore): Promise<void> {
  await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
}

/** The alias of a projection; null before it has any build. @throws StoreUnavailable */
export async function readAlias(store: Pick<ReadStore, 'get'>, name: string): Promise<BuildAlias | null> {
  const stored = await store.get(BUILD_ALIASES, name)
  return stored && parse(stored).alias
}

/** Every alias, by projection. @throws StoreUnavailable */
export async function readAliases(store: ReadStore): Promise<ReadonlyMap<string, StoredAlias>> {
  const stored = await store.find(BUILD_ALIASES, { filter: {} })
  return new Map(stored.map((one) => [one.id, parse(one)]))
}

/** The builds of a version; neither is there for one that nobody has begun. */
export function buildsOf(alias: BuildAlias, version: number): VersionBuilds {
  return alias.versions.find((builds) => builds.version === version) ?? { version, active: null, building: null }
}

/** The alias with other builds of a version; without the version where there are none. */
export function withBuilds(alias: BuildAlias, builds: VersionBuilds): BuildAlias {
  const others = alias.versions.filter(({ version }) => version !== builds.version)
  const isThere = builds.active !== null || builds.building !== null
  const versions = isThere ? [...others, builds].toSorted((one, other) => one.version - other.version) : others
  return { ...alias, versions }
}

/**
 * The build that this version of the code reads; null while none is complete. Before a projection has any build, it reads
 * the first one, which is empty.
 */
export function readableBuild(projection: AnyProjection, alias: BuildAlias | null): BuildNames | null {
  return alias === null ? buildNames(projection) : buildsOf(alias, projection.version).active
}

/** The next alias, given the current one (null: none yet) and the generation that the next will have; null changes nothing. */
type Change = (current: BuildAlias | null, generation: number) => BuildAlias | null

/** Changes an alias by compare-and-set. Resolves to the alias as stored afterwards, by any process. @throws StoreUnavailable */
export async function changeAlias(store: ReadStore, name: string, change: Change): Promise<StoredAlias | null> {
  return (await compareAndSetAlias(store, name, change)).stored
}

/**
 * `changeAlias` that also says whether this call changed it: another process may have made the same change.
 * @throws StoreUnavailable
 */
export async function compareAndSetAlias(
  store: ReadStore,
  name: string,
  change: Change,
): Promise<{ readonly stored: StoredAlias | null; readonly moved: boolean }> {
  const checkpoint = `${BUILD_ALIASES}@${name}`
  for (;;) {
    const stored = await store.get(BUILD_ALIASES, name)
    const expected = (await store.checkpoint(checkpoint))?.position ?? null
    const generation = Math.max(stored?.position ?? 0, expected ?? 0) + 1
    const current = stored && parse(stored)
    const next = change(current?.alias ?? null, generation)
    if (next === null) return { stored: current, moved: false }
    const moved = await store.commit(
      [{ collection: BUILD_ALIASES, id: name, doc: { ...next }, position: generation }],
      {
        name: checkpoint,
        expected,
        next: { position: generation, at: null },
      },
    )
    // Where a batch is not atomic, the guarded document decides the race, not the checkpoint: the stored one counts.
    const now = await store.get(BUILD_ALIASES, name)
    if (now && now.position === generation && JSON.stringify(parse(now).alias) === JSON.stringify(aliasDoc.parse(next)))
      return { stored: parse(now), moved }
  }
}

/** The collection that readers of each projection read; those of which no build can be read yet are left out. @throws StoreUnavailable */
export async function readActiveCollections(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<ReadonlyMap<string, string>> {
  const aliases = await readAliases(store)
  return new Map(
    projections.flatMap((projection) => {
      const build = readableBuild(projection, aliases.get(projection.name)?.alias ?? null)
      return build ? [[projection.name, build.collection]] : []
    }),
  )
}

/**
 * How far readers of each projection may count on, by projection; null while no build of its version is complete.
 * @throws StoreUnavailable
 */
export async function readActiveCoverage(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<ReadonlyMap<string, readonly RangeProgress[] | null>> {
  const [aliases, checkpoints] = [await readAliases(store), await store.checkpoints()]
  const coverages = createCoverages(checkpoints)
  return new Map(
    projections.map((projection) => {
      const build = readableBuild(projection, aliases.get(projection.name)?.alias ?? null)
      return [projection.name, build && coverages(build.checkpoint)]
    }),
  )
}

/**
 * The position that readers of each projection may count on in every partition, by projection; those of which no build can
 * be read yet are left out. @throws StoreUnavailable
 */
export async function readActivePositions(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<ReadonlyMap<string, number>> {
  const coverages = await readActiveCoverage(store, projections)
  return new Map([...coverages].flatMap(([name, coverage]) => (coverage ? [[name, lowestOf(coverage).position]] : [])))
}
