import { Map as PersistentMap, Set as PersistentSet } from 'immutable'

const MAP = '$map'
const SET = '$set'

/** Encodes a folded state as plain JSON: persistent maps and sets become tagged lists. */
export function encodeState(state: unknown): unknown {
  if (PersistentMap.isMap(state))
    return { [MAP]: [...state.entries()].map(([key, value]) => [key, encodeState(value)]) }
  if (PersistentSet.isSet(state)) return { [SET]: [...state.values()].map(encodeState) }
  if (Array.isArray(state)) return state.map(encodeState)
  if (typeof state !== 'object' || state === null) return state
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [key, encodeState(value)]))
}

/** Decodes the result of `encodeState`; the state is equal to the encoded one. */
export function decodeState(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(decodeState)
  if (typeof stored !== 'object' || stored === null) return stored
  if (MAP in stored && Array.isArray(stored[MAP]))
    return PersistentMap(stored[MAP].map(([key, value]) => [key, decodeState(value)]))
  if (SET in stored && Array.isArray(stored[SET])) return PersistentSet(stored[SET].map(decodeState))
  return Object.fromEntries(Object.entries(stored).map(([key, value]) => [key, decodeState(value)]))
}
