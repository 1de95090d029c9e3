import { Map as PersistentMap } from 'immutable'
import { FOLD_MEMORY } from './limits.ts'

/**
 * What a fold remembers for an hour at least, by recorded time, and two at most: when the newer part has filled for an
 * hour it becomes the older one, so forgetting costs nothing however much there is (Architecture §2, decision memory).
 */
export interface WindowedMap<Value> {
  readonly newer: PersistentMap<string, Value>
  readonly older: PersistentMap<string, Value>
  /** Recorded time at which the newer part began to fill. */
  readonly since: string | null
}

/** Nothing remembered yet. */
export function createWindowedMap<Value>(): WindowedMap<Value> {
  return { newer: PersistentMap(), older: PersistentMap(), since: null }
}

/** With one more value, recorded at an instant. */
export function setEntry<Value>(
  recent: WindowedMap<Value>,
  key: string,
  value: Value,
  recordedAt: string,
): WindowedMap<Value> {
  const full = recent.since !== null && Date.parse(recordedAt) - Date.parse(recent.since) >= FOLD_MEMORY.ms
  const newer = full ? PersistentMap<string, Value>() : recent.newer
  return {
    newer: newer.set(key, value),
    older: full ? recent.newer : recent.older,
    since: full || recent.since === null ? recordedAt : recent.since,
  }
}

/** The value of a key, where it is still remembered. */
export function getEntry<Value>(recent: WindowedMap<Value>, key: string): Value | null {
  return recent.newer.get(key) ?? recent.older.get(key) ?? null
}

/** Without the value of a key. */
export function deleteEntry<Value>(recent: WindowedMap<Value>, key: string): WindowedMap<Value> {
  return { ...recent, newer: recent.newer.delete(key), older: recent.older.delete(key) }
}

/**
 * Whether a fold would still remember what was recorded of something minted (a UUIDv7) inside its memory: it has
 * forgotten nothing yet, or the id is younger than what it forgot.
 */
export function wouldContain<Value>({ older, since }: WindowedMap<Value>, uuidv7: string): boolean {
  if (since === null || older.isEmpty()) return true
  const mintedMs = Number.parseInt(uuidv7.slice(0, 8) + uuidv7.slice(9, 13), 16)
  return mintedMs >= Date.parse(since) - FOLD_MEMORY.ms
}
