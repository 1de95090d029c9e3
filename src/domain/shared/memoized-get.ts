import type { Map as PersistentMap } from 'immutable'

/** `get` of a persistent map. */
export type MapGet<Value> = (map: PersistentMap<string, Value>, key: string) => Value | undefined

/**
 * Creates a memoized `get`, cached per map: a changed map is another object, and the cache of the old one is collected
 * with it. A persistent map hashes the key on every read, which costs most of the read, and a decision reads the same few
 * hundred records of a configuration that seldom changes. Use it for ids of records only: keys that callers choose would
 * fill the cache.
 */
export function memoizedGet<Value>(): MapGet<Value> {
  type Cache = Map<string, Value | undefined>
  const caches = new WeakMap<PersistentMap<string, Value>, Cache>()
  let latest: { readonly map: PersistentMap<string, Value>; readonly cache: Cache } | null = null
  const cacheOf = (map: PersistentMap<string, Value>): Cache => {
    const cache: Cache = caches.get(map) ?? new Map()
    caches.set(map, cache)
    latest = { map, cache }
    return cache
  }
  return (map, key) => {
    const cache = latest?.map === map ? latest.cache : cacheOf(map)
    const cached = cache.get(key)
    if (cached !== undefined || cache.has(key)) return cached
    const value = map.get(key)
    cache.set(key, value)
    return value
  }
}
