import type { Map as PersistentMap } from 'immutable'

/** Answers what a map's `get` answers. */
export type MapGet<Value> = (map: PersistentMap<string, Value>, key: string) => Value | undefined

/**
 * Makes a look-up that remembers what it found, by the map: a change makes another one, and the old goes with what was
 * found in it. A persistent map hashes a UUID anew each time that it is asked, which costs many times the rest, and a
 * decision asks the same few hundred records of a configuration that seldom changes. For keys of records alone: what
 * strangers may choose (callers) would fill memory.
 */
export function memoizedGet<Value>(): MapGet<Value> {
  type Found = Map<string, Value | undefined>
  const foundIn = new WeakMap<PersistentMap<string, Value>, Found>()
  let latest: { readonly map: PersistentMap<string, Value>; readonly found: Found } | null = null
  const looking = (map: PersistentMap<string, Value>): Found => {
    const found: Found = foundIn.get(map) ?? new Map()
    foundIn.set(map, found)
    latest = { map, found }
    return found
  }
  return (map, key) => {
    const found = latest?.map === map ? latest.found : looking(map)
    const known = found.get(key)
    if (known !== undefined || found.has(key)) return known
    const value = map.get(key)
    found.set(key, value)
    return value
  }
}
