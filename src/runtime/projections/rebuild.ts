import type { AnyProjection } from '../../kernel/projection.ts'
import type { CollectionSpec, ReadStore } from '../../ports/read-store.ts'
import { POINTER_LIFE_MS } from './active-builds.ts'
import {
  changePointer,
  movePointer,
  type Place,
  POINTERS,
  type Pointer,
  placeOf,
  readPointers,
  type StoredPointer,
} from './build-names.ts'
import { createLane, type Lane } from './projection-build.ts'

/** How long a build is kept after another took its place (ms): longer than any reader believes an old pointer. */
export const RETIRED_LIFE_MS = 20 * POINTER_LIFE_MS

const retire = (pointer: Pointer, place: Place | null, now: number): Pointer['retired'] =>
  place === null ? pointer.retired : [...pointer.retired, { ...place, at: now }]

/**
 * The pointer that a projection's code asks for, given the one that stands; null when it is right as it is.
 * A newer version is built beside the old, which answers until then. Code older than the active build leaves it alone.
 */
function wanted(projection: AnyProjection, current: Pointer | null, generation: number, now: number): Pointer | null {
  if (current === null) return { active: placeOf(projection), building: null, retired: [] }
  const { active, building } = current
  if (active.version >= projection.version) return null
  if (building !== null && building.version >= projection.version) return null
  return { active, building: placeOf(projection, generation), retired: retire(current, building, now) }
}

/** What the store must have for one build. Followed collections get an index on the position that they were folded to. */
export function specOf(projection: AnyProjection, collection: string, followed: boolean): CollectionSpec {
  return {
    name: collection,
    indexes: followed ? [...projection.indexes, { _position: 1 }] : projection.indexes,
    columns: projection.columns,
  }
}

/** Brings the pointers up to what the code asks for, and answers them. @throws StoreUnavailable */
export async function syncPointers(
  store: ReadStore,
  projections: readonly AnyProjection[],
  now: number,
): Promise<readonly StoredPointer[]> {
  const stored = await readPointers(store)
  const pointers = projections.map((projection) => {
    const known = stored.get(projection.name)
    if (known && wanted(projection, known.pointer, known.generation + 1, now) === null) return known
    return changePointer(store, projection.name, (current, generation) => wanted(projection, current, generation, now))
  })
  return (await Promise.all(pointers)).filter((pointer) => pointer !== null)
}

/** The builds of a projection that this code can fold, as lanes; those that exist already stay. */
export function lanesFor(
  projection: AnyProjection,
  { pointer }: StoredPointer,
  existing: readonly Lane[],
): readonly Lane[] {
  const builds = [
    { place: pointer.active, building: false },
    { place: pointer.building, building: true },
  ]
  return builds.flatMap(({ place, building }) => {
    if (place === null || place.version !== projection.version) return []
    const known = existing.find((lane) => lane.place.collection === place.collection)
    if (!known) return [createLane(projection, place, building)]
    known.building = building
    return [known]
  })
}

/**
 * Asks for a new build of a projection beside the active one; any runner of it takes it up. Answers whether it was this
 * that began one: it has no effect while one is under way.
 */
export async function requestRebuild(store: ReadStore, projection: AnyProjection): Promise<boolean> {
  await store.ensure([{ name: POINTERS, indexes: [], columns: [] }])
  const { moved } = await movePointer(store, projection.name, (current, generation) => {
    const pointer = current ?? { active: placeOf(projection), building: null, retired: [] }
    return pointer.building === null ? { ...pointer, building: placeOf(projection, generation) } : null
  })
  return moved
}

/** Makes a finished build the active one, and the one before it ready to be dropped. */
export async function switchOver(store: ReadStore, lane: Lane, now: number): Promise<void> {
  await changePointer(store, lane.projection.name, (current) =>
    current?.building?.collection === lane.place.collection
      ? { active: current.building, building: null, retired: retire(current, current.active, now) }
      : null,
  )
}

/** Drops the builds that nobody can be reading any more. */
export async function dropRetired(store: ReadStore, stored: StoredPointer, now: number): Promise<void> {
  const over = stored.pointer.retired.filter(({ at }) => now - at >= RETIRED_LIFE_MS)
  if (over.length === 0) return
  for (const { collection, checkpoint } of over) await store.drop(collection, checkpoint)
  const dropped = new Set(over.map(({ collection }) => collection))
  await changePointer(store, stored.name, (current) => {
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
export function progressOf(
  lane: Lane,
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
