import type { Doc, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import { delegate } from '../projections/delegate-store.ts'
import type { ChangeCounters } from './response-cache.ts'

function workspaceOf({ workspaceId }: Doc): readonly string[] | null {
  return typeof workspaceId === 'string' ? [workspaceId] : null
}

/**
 * A read store that tells of documents which a read shows before it is known that they were written: they can be read
 * as soon as they are committed, and word of it comes later. What was made of what stood before must not follow them.
 */
export function withReadInvalidation(
  store: ReadStore,
  positions: Pick<CheckpointTracker, 'positionOf'>,
  moves: Pick<ChangeCounters, 'recordChange'>,
): ReadStore {
  const noticed = (collection: string, documents: readonly (StoredDocument | null)[]): void => {
    const { name } = parseCollectionName(collection)
    const known = positions.positionOf(name)
    for (const stored of documents) {
      if (stored && stored.position > known) moves.recordChange(name, workspaceOf(stored.doc))
    }
  }
  return {
    ...delegate(store),
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
