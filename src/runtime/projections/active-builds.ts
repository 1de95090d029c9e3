import type { Clock } from '../../ports/clock.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { ensureAliases, readAliases } from './build-alias.ts'
import { parseCollectionName } from './build-names.ts'
import { delegate } from './delegate-store.ts'

/** How long a reader may use a cached alias (ms); a retired collection is kept for longer than that. */
export const ALIAS_CACHE_MS = 500

/**
 * Read-store decorator: the plain collection name of a projection (`collectionOf`) resolves to its active build, so
 * queries need not know that a rebuild switched. Writes pass through unchanged.
 */
export function withActiveBuilds(store: ReadStore, clock: Clock): ReadStore {
  let cached: Promise<ReadonlyMap<string, string>> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let ensured = false

  const load = async (): Promise<ReadonlyMap<string, string>> => {
    if (!ensured) await ensureAliases(store)
    ensured = true
    return new Map([...(await readAliases(store)).values()].map(({ name, alias }) => [name, alias.active.collection]))
  }

  const activeOf = async (collection: string): Promise<string> => {
    if (cached === null || clock.now() - readAt >= ALIAS_CACHE_MS) {
      readAt = clock.now()
      const loading = load()
      cached = loading
      loading.catch(() => {
        if (cached === loading) cached = null
      })
    }
    return (await cached).get(parseCollectionName(collection).name) ?? collection
  }

  return {
    ...delegate(store),
    get: async (collection, id) => store.get(await activeOf(collection), id),
    getMany: async (collection, ids) => store.getMany(await activeOf(collection), ids),
    find: async (collection, page) => store.find(await activeOf(collection), page),
    pluck: async (collection, path, page) => store.pluck(await activeOf(collection), path, page),
    count: async (collection, filter) => store.count(await activeOf(collection), filter),
    sum: async (collection, filter, groupBy, fields) => store.sum(await activeOf(collection), filter, groupBy, fields),
  }
}
