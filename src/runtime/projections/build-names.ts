import { collectionOf } from '../../kernel/projection.ts'
import type { ReadStore, Stored } from '../../ports/read-store.ts'

/** Where one build of a projection lives. */
export interface Place {
  readonly version: number
  readonly collection: string
  readonly checkpoint: string
}

/** Which build of a projection is read, which is being made, and which wait to be dropped (`at`: ms, since when). */
export interface Pointer {
  readonly active: Place
  readonly building: Place | null
  readonly retired: readonly (Place & { readonly at: number })[]
}

/** A pointer as stored; `generation` grows with each change, so no build ever takes the name of another. */
export interface StoredPointer {
  readonly name: string
  readonly generation: number
  readonly pointer: Pointer
}

/** Collection of the pointers, one document for each projection. */
export const POINTERS = 'active'

/** Names of a build: generation 0 has the plain names, a forced rebuild a suffix of its own. */
export function placeOf(projection: { readonly name: string; readonly version: number }, generation = 0): Place {
  const suffix = generation === 0 ? '' : `~${generation}`
  return {
    version: projection.version,
    collection: `${collectionOf(projection)}${suffix}`,
    checkpoint: `${projection.name}@${projection.version}${suffix}`,
  }
}

/** Projection's name, version and suffix, from the name of one of its collections. */
export function partsOfCollection(collection: string): {
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
const parse = (stored: Stored): StoredPointer => ({
  name: stored.id,
  generation: stored.position,
  pointer: stored.doc as unknown as Pointer,
})

/** Every pointer, by projection. @throws StoreUnavailable */
export async function readPointers(store: ReadStore): Promise<ReadonlyMap<string, StoredPointer>> {
  const stored = await store.find(POINTERS, { filter: {} })
  return new Map(stored.map((one) => [one.id, parse(one)]))
}

/** Gets what stands of a pointer (null: nothing yet) and the generation that its answer will have; null leaves it. */
type Change = (current: Pointer | null, generation: number) => Pointer | null

/** Changes a pointer by compare-and-set. Answers what stands afterwards, whoever wrote it. @throws StoreUnavailable */
export async function changePointer(store: ReadStore, name: string, change: Change): Promise<StoredPointer | null> {
  return (await movePointer(store, name, change)).stored
}

/** `changePointer` that also tells whether it was this very change: another may have made the same at the same time. */
export async function movePointer(
  store: ReadStore,
  name: string,
  change: Change,
): Promise<{ readonly stored: StoredPointer | null; readonly moved: boolean }> {
  const checkpoint = `${POINTERS}@${name}`
  for (;;) {
    const stored = await store.get(POINTERS, name)
    const expected = (await store.checkpoint(checkpoint))?.position ?? null
    const generation = Math.max(stored?.position ?? 0, expected ?? 0) + 1
    const next = change(stored && parse(stored).pointer, generation)
    if (next === null) return { stored: stored && parse(stored), moved: false }
    const doc = JSON.parse(JSON.stringify(next))
    const moved = await store.commit([{ collection: POINTERS, id: name, doc, position: generation }], {
      name: checkpoint,
      expected,
      next: { position: generation, at: null },
    })
    // Where a batch is not atomic, the guarded document decides the race, not the checkpoint: believe what is stored.
    const now = await store.get(POINTERS, name)
    if (now && now.position === generation && JSON.stringify(parse(now).pointer) === JSON.stringify(next))
      return { stored: parse(now), moved }
  }
}

/** The positions that readers of each projection may count on, by projection. @throws StoreUnavailable */
export async function activePositions(store: ReadStore): Promise<ReadonlyMap<string, number>> {
  const [pointers, checkpoints] = [await readPointers(store), await store.checkpoints()]
  const positions = new Map<string, number>()
  for (const { name, pointer } of pointers.values()) {
    const checkpoint = checkpoints[pointer.active.checkpoint]
    if (checkpoint) positions.set(name, checkpoint.position)
  }
  return positions
}
