import type { Doc, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import { delegate } from '../projections/delegate-store.ts'
import type { ChangeCounters } from './change-counters.ts'

function workspaceOf({ workspaceId }: Doc): readonly string[] | null {
  return typeof workspaceId === 'string' ? [workspaceId] : null
}

/**
 * Read-store decorator: when a read returns a document newer than the known checkpoint, records a change, which
 * invalidates the caches built from the older state. Documents can be read as soon as they are committed; the
 * projector's report arrives later.
 */
export function withReadInvalidation(
  store: ReadStore,
  positions: Pick<CheckpointTracker, 'positionOf'>,
  changes: Pick<ChangeCounters, 'recordChange'>,
): ReadStore {
  const check = (collection: string, documents: readonly (StoredDocument | null)[]): void => {
    const { name } = parseCollectionName(collection)
    const known = positions.positionOf(name)
    for (const stored of documents) {
      if (stored && stored.position > known) changes.recordChange(name, workspaceOf(stored.doc))
    }
  }
  return {
    ...delegate(store),
    async get(collection, id) {
      const found = await store.get(collection, id)
      check(collection, [found])
      return found
    },
    async getMany(collection, ids) {
      const found = await store.getMany(collection, ids)
      check(collection, found)
      return found
    },
    async find(collection, page) {
      const found = await store.find(collection, page)
      check(collection, found)
      return found
    },
  }
}
