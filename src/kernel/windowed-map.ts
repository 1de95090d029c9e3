import { Map as PersistentMap } from 'immutable'

/** Marks a key that was deleted after the layer that has its entry. */
export const TOMBSTONE: unique symbol = Symbol('deleted')
export type Tombstone = typeof TOMBSTONE

/** Entries of frozen layers, packed into bytes. */
export interface PackedEntries {
  /** Value of a key; `TOMBSTONE` for one that was deleted, undefined for one without an entry. */
  readonly find: (key: string) => unknown
  /** All entries, oldest first: a later one of the same key replaces an earlier one. */
  readonly entries: () => Iterable<readonly [key: string, value: unknown]>
}

/**
 * Entries that were set or deleted between two freezes. What it says never changes, only its form: once packed, it has
 * the entries of all layers before it, too.
 */
export interface Layer {
  /** Revision of the stream's event after which it was frozen. */
  readonly upTo: number
  content: PersistentMap<string, unknown> | PackedEntries
}

/** The entries that were set within one window of recorded time. */
export interface Generation<Value> {
  /** Recorded instant of the first entry; null while there is none. It identifies the generation within its map. */
  readonly since: string | null
  /** Entries set or deleted since the last freeze. */
  readonly recent: PersistentMap<string, Value | Tombstone>
  /** Frozen entries, oldest first. */
  readonly layers: readonly Layer[]
}

const WINDOWED: unique symbol = Symbol('windowed map')

/**
 * Map in a folded state that keeps entries for one to two windows of recorded time, in two generations: after a window
 * the newer one replaces the older one, so dropping entries costs nothing (Architecture §2). Its entries can be frozen
 * and packed into bytes, so that a snapshot writes only what was added since the last one.
 */
export interface WindowedMap<Value> {
  readonly [WINDOWED]: true
  readonly newer: Generation<Value>
  readonly older: Generation<Value>
}

const NO_ENTRIES: Generation<never> = { since: null, recent: PersistentMap(), layers: [] }

/** The map of two generations. */
export function windowedMapOf<Value>(newer: Generation<Value>, older: Generation<Value>): WindowedMap<Value> {
  return { [WINDOWED]: true, newer, older }
}

/** An empty map. */
export function createWindowedMap<Value>(): WindowedMap<Value> {
  return windowedMapOf(NO_ENTRIES, NO_ENTRIES)
}

/** Whether a part of a state is such a map. */
export function isWindowedMap(value: unknown): value is WindowedMap<unknown> {
  return typeof value === 'object' && value !== null && WINDOWED in value
}

/** A map whose values are of this type. They are not checked. */
export function typedEntries<Value>(map: WindowedMap<unknown>): WindowedMap<Value> {
  return map as WindowedMap<Value>
}

/** Value of a key in layers; `TOMBSTONE` or undefined as in `PackedEntries`. */
function findFrozen(layers: readonly Layer[], key: string): unknown {
  for (let n = layers.length - 1; n >= 0; n--) {
    const content = layers[n]?.content
    if (!content) continue
    if (!PersistentMap.isMap(content)) return content.find(key)
    const value = content.get(key)
    if (value !== undefined) return value
  }
  return undefined
}

function findIn<Value>({ recent, layers }: Generation<Value>, key: string): Value | undefined {
  const value = recent.get(key) ?? (layers.length > 0 ? (findFrozen(layers, key) as Value | Tombstone) : undefined)
  return value === TOMBSTONE ? undefined : value
}

/** An entry that was never frozen is marked as deleted, too: another process may have frozen and stored it. */
function deleteIn<Value>(generation: Generation<Value>, key: string): Generation<Value> {
  if (findIn(generation, key) === undefined) return generation
  return { ...generation, recent: generation.recent.set(key, TOMBSTONE) }
}

/** The map with an entry that was recorded at an instant (ISO 8601). */
export function setWindowedEntry<Value>(
  { newer, older }: WindowedMap<Value>,
  key: string,
  value: Value,
  recordedAt: string,
  windowMs: number,
): WindowedMap<Value> {
  const isOver = newer.since !== null && Date.parse(recordedAt) - Date.parse(newer.since) >= windowMs
  const filling = isOver || newer.since === null ? { ...NO_ENTRIES, since: recordedAt } : newer
  return windowedMapOf({ ...filling, recent: filling.recent.set(key, value) }, isOver ? newer : older)
}

/** The value of a key; null when the map never had it, or has dropped it. */
export function getEntry<Value>({ newer, older }: WindowedMap<Value>, key: string): Value | null {
  return findIn(newer, key) ?? findIn(older, key) ?? null
}

/** The value of a key in the newer generation alone; null when it has none. */
export function getNewerEntry<Value>({ newer }: WindowedMap<Value>, key: string): Value | null {
  return findIn(newer, key) ?? null
}

/** The map without a key. */
export function deleteEntry<Value>({ newer, older }: WindowedMap<Value>, key: string): WindowedMap<Value> {
  return windowedMapOf(deleteIn(newer, key), deleteIn(older, key))
}

/** A layer whose entries the packed layers after it have, too. */
const isCovered = (_layer: Layer, index: number, layers: readonly Layer[]): boolean => {
  const next = layers[index + 1]
  return next !== undefined && !PersistentMap.isMap(next.content)
}

function freezeGeneration<Value>(generation: Generation<Value>, revision: number): Generation<Value> {
  const { since, recent, layers } = generation
  if (recent.isEmpty()) return generation
  const kept = layers.filter((...layer) => !isCovered(...layer))
  return { since, recent: PersistentMap(), layers: [...kept, { upTo: revision, content: recent }] }
}

/** The map with the same entries, all of them in layers: those since the last freeze become one layer more. */
export function freezeWindowedMap<Value>({ newer, older }: WindowedMap<Value>, revision: number): WindowedMap<Value> {
  return windowedMapOf(freezeGeneration(newer, revision), freezeGeneration(older, revision))
}

/** The entries of a map by key, for tests: a generation's form and its freezes make no difference. */
export function entriesOf<Value>(map: WindowedMap<Value>): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>()
  for (const generation of [map.older, map.newer]) {
    const contents = [...generation.layers.map(({ content }) => content), generation.recent]
    for (const content of contents) {
      for (const [key] of content.entries()) {
        const value = findIn(generation, key)
        if (value !== undefined) found.set(key, value)
      }
    }
  }
  return found
}
