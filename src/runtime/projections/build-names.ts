import { collectionOf } from '../../kernel/projection.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'

/** Where one build of a projection lives. */
export interface BuildNames {
  readonly version: number
  readonly collection: string
  readonly checkpoint: string
}

/** Which build of a projection is read, which is being made, and which wait to be dropped (`at`: ms, since when). */
export interface BuildAlias {
  readonly active: BuildNames
  readonly building: BuildNames | null
  readonly retired: readonly (BuildNames & { readonly at: number })[]
}

/** A pointer as stored; `generation` grows with each change, so no build ever takes the name of another. */
export interface StoredAlias {
  readonly name: string
  readonly generation: number
  readonly alias: BuildAlias
}

/** Collection of the pointers, one document for each projection. */
export const BUILD_ALIASES = 'active'

/** Names of a build: generation 0 has the plain names, a forced rebuild a suffix of its own. */
export function buildNames(
  projection: { readonly name: string; readonly version: number },
  generation = 0,
): BuildNames {
  const suffix = generation === 0 ? '' : `~${generation}`
  return {
    version: projection.version,
    collection: `${collectionOf(projection)}${suffix}`,
    checkpoint: `${projection.name}@${projection.version}${suffix}`,
  }
}

/** Projection's name, version and suffix, from the name of one of its collections. */
export function parseCollectionName(collection: string): {
  readonly name: string
  readonly base: string
  readonly checkpoint: string
} {
  const at = collection.lastIndexOf('_v')
  const base = collection.split('~', 1)[0] ?? collection
  return {
    name: collection.slice(0, at),
    base,
    checkpoint: `${collection.slice(0, at)}@${collection.slice(at + 2)}`,
  }
}

// Only `changePointer` writes this collection, so its documents have this shape.
const parse = (stored: StoredDocument): StoredAlias => ({
  name: stored.id,
  generation: stored.position,
  alias: stored.doc as unknown as BuildAlias,
})

/** Every pointer, by projection. @throws StoreUnavailable */
export async function readAliases(store: ReadStore): Promise<ReadonlyMap<string, StoredAlias>> {
  const stored = await store.find(BUILD_ALIASES, { filter: {} })
  return new Map(stored.map((one) => [one.id, parse(one)]))
}

/** Gets what stands of a pointer (null: nothing yet) and the generation that its answer will have; null leaves it. */
type Change = (current: BuildAlias | null, generation: number) => BuildAlias | null

/** Changes a pointer by compare-and-set. Answers what stands afterwards, whoever wrote it. @throws StoreUnavailable */
export async function changeAlias(store: ReadStore, name: string, change: Change): Promise<StoredAlias | null> {
  return (await compareAndSetAlias(store, name, change)).stored
}

/** `changePointer` that also tells whether it was this very change: another may have made the same at the same time. */
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
    const next = change(stored && parse(stored).alias, generation)
    if (next === null) return { stored: stored && parse(stored), moved: false }
    const doc = JSON.parse(JSON.stringify(next))
    const moved = await store.commit([{ collection: BUILD_ALIASES, id: name, doc, position: generation }], {
      name: checkpoint,
      expected,
      next: { position: generation, at: null },
    })
    // Where a batch is not atomic, the guarded document decides the race, not the checkpoint: believe what is stored.
    const now = await store.get(BUILD_ALIASES, name)
    if (now && now.position === generation && JSON.stringify(parse(now).alias) === JSON.stringify(next))
      return { stored: parse(now), moved }
  }
}

/** The positions that readers of each projection may count on, by projection. @throws StoreUnavailable */
export async function readActivePositions(store: ReadStore): Promise<ReadonlyMap<string, number>> {
  const [pointers, checkpoints] = [await readAliases(store), await store.checkpoints()]
  const positions = new Map<string, number>()
  for (const { name, alias } of pointers.values()) {
    const checkpoint = checkpoints[alias.active.checkpoint]
    if (checkpoint) positions.set(name, checkpoint.position)
  }
  return positions
}
