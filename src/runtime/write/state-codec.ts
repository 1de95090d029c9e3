import { Map as PersistentMap, Set as PersistentSet } from 'immutable'

const MAP = '$map'
const SET = '$set'

/** A folded state as plain JSON: persistent maps and sets become tagged lists. */
export function encodeState(state: unknown): unknown {
  if (PersistentMap.isMap(state))
    return { [MAP]: [...state.entries()].map(([key, value]) => [key, encodeState(value)]) }
  if (PersistentSet.isSet(state)) return { [SET]: [...state.values()].map(encodeState) }
  if (Array.isArray(state)) return state.map(encodeState)
  if (typeof state !== 'object' || state === null) return state
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [key, encodeState(value)]))
}

/** The state that `encodeState` was given. */
export function decodeState(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(decodeState)
  if (typeof stored !== 'object' || stored === null) return stored
  const record = stored as Readonly<Record<string, unknown>>
  const entries = record[MAP]
  if (Array.isArray(entries)) return PersistentMap(entries.map(([key, value]) => [key, decodeState(value)]))
  const values = record[SET]
  if (Array.isArray(values)) return PersistentSet(values.map(decodeState))
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, decodeState(value)]))
}
