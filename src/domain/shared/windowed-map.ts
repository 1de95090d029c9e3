import { setWindowedEntry, type WindowedMap } from '../../kernel/windowed-map.ts'
import { FOLD_MEMORY } from './limits.ts'

/** The map with an entry that was recorded at an instant (ISO 8601), which it keeps for one to two hours of recorded time. */
export function setEntry<Value>(
  map: WindowedMap<Value>,
  key: string,
  value: Value,
  recordedAt: string,
): WindowedMap<Value> {
  return setWindowedEntry(map, key, value, recordedAt, FOLD_MEMORY.ms)
}

/**
 * Whether the map would still contain the entry of an id (a UUIDv7, which holds its own creation time): nothing was
 * dropped yet, or the id is newer than everything that was.
 */
export function wouldContain<Value>({ newer, older }: WindowedMap<Value>, uuidv7: string): boolean {
  if (newer.since === null || older.since === null) return true
  const createdMs = Number.parseInt(uuidv7.slice(0, 8) + uuidv7.slice(9, 13), 16)
  return createdMs >= Date.parse(newer.since) - FOLD_MEMORY.ms
}
