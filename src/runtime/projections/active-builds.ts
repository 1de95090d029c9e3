import type { Clock } from '../../ports/clock.ts'
import { type ReadStore, StoreUnavailable } from '../../ports/read-store.ts'
import { ensureAliases, readAliases } from './build-alias.ts'
import { parseCollectionName } from './build-names.ts'
import { delegate } from './delegate-store.ts'

/** How long a reader may use a cached alias (ms); a retired collection is kept for longer than that. */
export const ALIAS_CACHE_MS = 500

/** The same while the build is missing (ms). */
const MISSING_CACHE_MS = 25

/** By projection, the collections of the active builds, each by its plain name. */
type ActiveBuilds = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Read-store decorator: the plain collection name of a projection (`collectionOf`) resolves to the active build of its
 * version, so queries need not know that a rebuild switched. While that version is being built, reads throw
 * StoreUnavailable: documents of another version may have another shape. Writes pass through unchanged.
 */
export function withActiveBuilds(store: ReadStore, clock: Clock): ReadStore {
  let cached: Promise<ActiveBuilds> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let ensured = false

  const load = async (): Promise<ActiveBuilds> => {
    if (!ensured) await ensureAliases(store)
    ensured = true
    const aliases = [...(await readAliases(store)).values()]
    return new Map(
      aliases.map(({ name, alias: { versions } }) => {
        const collections = versions.flatMap(({ active }) => active?.collection ?? [])
        return [name, new Map(collections.map((collection) => [parseCollectionName(collection).base, collection]))]
      }),
    )
  }

  const builds = (maxAgeMs: number): Promise<ActiveBuilds> => {
    if (cached !== null && clock.now() - readAt < maxAgeMs) return cached
    readAt = clock.now()
    const loading = load()
    cached = loading
    loading.catch(() => {
      if (cached === loading) cached = null
    })
    return loading
  }

  const activeOf = async (collection: string): Promise<string> => {
    const { name, base } = parseCollectionName(collection)
    const known = (await builds(ALIAS_CACHE_MS)).get(name)
    if (known === undefined) return collection
    // A build that has just become complete is read at once.
    const found = known.get(base) ?? (await builds(MISSING_CACHE_MS)).get(name)?.get(base)
    if (found === undefined) throw new StoreUnavailable(`The projection ${name} is being built for this version.`)
    return found
  }

  return {
    ...delegate(store),
    get: async (collection, id, now) => store.get(await activeOf(collection), id, now),
    getMany: async (collection, ids, now) => store.getMany(await activeOf(collection), ids, now),
    find: async (collection, page) => store.find(await activeOf(collection), page),
    findDerived: async (collection, page, derivation) =>
      store.findDerived(await activeOf(collection), page, derivation),
    pluck: async (collection, path, page) => store.pluck(await activeOf(collection), path, page),
    select: async (collection, paths, page) => store.select(await activeOf(collection), paths, page),
    count: async (collection, filter, now) => store.count(await activeOf(collection), filter, now),
    sum: async (collection, filter, groupBy, fields, now) =>
      store.sum(await activeOf(collection), filter, groupBy, fields, now),
    sumRows: async (collection, question) => store.sumRows(await activeOf(collection), question),
  }
}
