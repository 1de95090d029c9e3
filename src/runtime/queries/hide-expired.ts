import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import { delegate } from '../projections/delegate-store.ts'

/**
 * Read-store decorator: readers find no document that has expired. Only projections whose documents expire pay for it: a
 * condition on the expiry keeps a store from answering out of an index alone.
 */
export function withExpiredHidden(
  store: ReadStore,
  projections: readonly AnyProjection[],
  clock: Pick<Clock, 'now'>,
): ReadStore {
  const expiring = new Set(projections.flatMap(({ name, expiresAt }) => (expiresAt ? [name] : [])))
  const nowFor = (collection: string): number | undefined =>
    expiring.has(parseCollectionName(collection).name) ? clock.now() : undefined
  const pageFor = <Page extends object>(collection: string, page: Page) => {
    const now = nowFor(collection)
    return now === undefined ? page : { ...page, now }
  }
  return {
    ...delegate(store),
    get: (collection, id) => store.get(collection, id, nowFor(collection)),
    getMany: (collection, ids) => store.getMany(collection, ids, nowFor(collection)),
    find: (collection, page) => store.find(collection, pageFor(collection, page)),
    findDerived: (collection, page, derivation) => store.findDerived(collection, pageFor(collection, page), derivation),
    pluck: (collection, path, page) => store.pluck(collection, path, pageFor(collection, page)),
    select: (collection, paths, page) => store.select(collection, paths, pageFor(collection, page)),
    count: (collection, filter) => store.count(collection, filter, nowFor(collection)),
    sum: (collection, filter, groupBy, fields) => store.sum(collection, filter, groupBy, fields, nowFor(collection)),
  }
}
