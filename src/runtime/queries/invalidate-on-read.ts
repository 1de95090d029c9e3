import type { Doc, ReadStore, Stored } from '../../ports/read-store.ts'
import { bound } from '../projections/active-builds.ts'
import { partsOfCollection } from '../projections/build-names.ts'
import type { Positions } from '../projections/checkpoint-tracker.ts'
import type { Moves } from './response-cache.ts'

function workspaceOf({ workspaceId }: Doc): readonly string[] | null {
  return typeof workspaceId === 'string' ? [workspaceId] : null
}

/**
 * A read store that tells of documents which a read shows before it is known that they were written: they can be read
 * as soon as they are committed, and word of it comes later. What was made of what stood before must not follow them.
 */
export function noticing(store: ReadStore, positions: Pick<Positions, 'of'>, moves: Pick<Moves, 'moved'>): ReadStore {
  const noticed = (collection: string, documents: readonly (Stored | null)[]): void => {
    const { name } = partsOfCollection(collection)
    const known = positions.of(name)
    for (const stored of documents) {
      if (stored && stored.position > known) moves.moved(name, workspaceOf(stored.doc))
    }
  }
  return {
    ...bound(store),
    async get(collection, id) {
      const found = await store.get(collection, id)
      noticed(collection, [found])
      return found
    },
    async getMany(collection, ids) {
      const found = await store.getMany(collection, ids)
      noticed(collection, found)
      return found
    },
    async find(collection, page) {
      const found = await store.find(collection, page)
      noticed(collection, found)
      return found
    },
  }
}
