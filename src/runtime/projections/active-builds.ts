import type { Clock } from '../../ports/clock.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { BUILD_ALIASES, parseCollectionName, readAliases } from './build-names.ts'

/** How long a reader may believe a pointer (ms); a retired collection is kept for longer than that. */
export const ALIAS_CACHE_MS = 500

/**
 * A read store in which a projection's plain collection name means the build that is active now, so that queries name
 * `collectionOf(projection)` while rebuilds switch underneath. Writes pass through unchanged.
 */
export function withActiveBuilds(store: ReadStore, clock: Clock): ReadStore {
  let known: Promise<ReadonlyMap<string, string>> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let ensured = false

  const load = async (): Promise<ReadonlyMap<string, string>> => {
    if (!ensured) await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
    ensured = true
    return new Map([...(await readAliases(store)).values()].map((one) => [one.name, one.alias.active.collection]))
  }

  const actual = async (collection: string): Promise<string> => {
    if (known === null || clock.now() - readAt >= ALIAS_CACHE_MS) {
      readAt = clock.now()
      const loading = load()
      known = loading
      loading.catch(() => {
        if (known === loading) known = null
      })
    }
    return (await known).get(parseCollectionName(collection).name) ?? collection
  }

  return {
    ...delegate(store),
    get: async (collection, id) => store.get(await actual(collection), id),
    getMany: async (collection, ids) => store.getMany(await actual(collection), ids),
    find: async (collection, page) => store.find(await actual(collection), page),
    pluck: async (collection, path, page) => store.pluck(await actual(collection), path, page),
    count: async (collection, filter) => store.count(await actual(collection), filter),
    sum: async (collection, filter, groupBy, fields) => store.sum(await actual(collection), filter, groupBy, fields),
  }
}

/** A store's methods as a record to override, whatever the store is made of. */
export function delegate(store: ReadStore): ReadStore {
  return {
    atomic: store.atomic,
    ensure: (specs) => store.ensure(specs),
    get: (collection, id) => store.get(collection, id),
    getMany: (collection, ids) => store.getMany(collection, ids),
    find: (collection, page) => store.find(collection, page),
    pluck: (collection, path, page) => store.pluck(collection, path, page),
    count: (collection, filter) => store.count(collection, filter),
    sum: (collection, filter, groupBy, fields) => store.sum(collection, filter, groupBy, fields),
    commit: (writes, checkpoint) => store.commit(writes, checkpoint),
    checkpoint: (name) => store.checkpoint(name),
    checkpoints: () => store.checkpoints(),
    drop: (collection, checkpoint) => store.drop(collection, checkpoint),
    collections: () => store.collections(),
    close: () => store.close(),
  }
}
