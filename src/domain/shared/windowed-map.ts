import { Map as PersistentMap } from 'immutable'
import { FOLD_MEMORY } from './limits.ts'

/**
 * Map in a folded state that keeps entries for one to two hours of recorded time, in two generations: after an hour the
 * newer one replaces the older one, so dropping entries costs nothing (Architecture §2, decision memory).
 */
export interface WindowedMap<Value> {
  readonly newer: PersistentMap<string, Value>
  readonly older: PersistentMap<string, Value>
  /** Recorded instant of the first entry of the newer generation; null while the map is empty. */
  readonly since: string | null
}

/** An empty map. */
export function createWindowedMap<Value>(): WindowedMap<Value> {
  return { newer: PersistentMap(), older: PersistentMap(), since: null }
}

/** The map with an entry that was recorded at an instant (ISO 8601). */
export function setEntry<Value>(
  map: WindowedMap<Value>,
  key: string,
  value: Value,
  recordedAt: string,
): WindowedMap<Value> {
  const full = map.since !== null && Date.parse(recordedAt) - Date.parse(map.since) >= FOLD_MEMORY.ms
  const newer = full ? PersistentMap<string, Value>() : map.newer
  return {
    newer: newer.set(key, value),
    older: full ? map.newer : map.older,
    since: full || map.since === null ? recordedAt : map.since,
  }
}

/** The value of a key; null when the map never had it, or has dropped it. */
export function getEntry<Value>(map: WindowedMap<Value>, key: string): Value | null {
  return map.newer.get(key) ?? map.older.get(key) ?? null
}

/** The map without a key. */
export function deleteEntry<Value>(map: WindowedMap<Value>, key: string): WindowedMap<Value> {
  return { ...map, newer: map.newer.delete(key), older: map.older.delete(key) }
}

/**
 * Whether the map would still contain the entry of an id (a UUIDv7, which holds its own creation time): nothing was
 * dropped yet, or the id is newer than everything that was.
 */
export function wouldContain<Value>({ older, since }: WindowedMap<Value>, uuidv7: string): boolean {
  if (since === null || older.isEmpty()) return true
  const createdMs = Number.parseInt(uuidv7.slice(0, 8) + uuidv7.slice(9, 13), 16)
  return createdMs >= Date.parse(since) - FOLD_MEMORY.ms
}
