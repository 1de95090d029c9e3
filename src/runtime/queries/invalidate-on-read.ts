import { partitionOf } from '../../kernel/partition.ts'
import type { Doc, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import { delegate } from '../projections/delegate-store.ts'
import type { ChangeCounters } from './change-counters.ts'

/** The workspaces that a document concerns (null: any), and the partition that its events are known to have. */
function scopeOf({ workspaceId }: Doc): {
  readonly workspaces: readonly string[] | null
  readonly partition: number | null
} {
  if (typeof workspaceId !== 'string') return { workspaces: null, partition: null }
  return { workspaces: [workspaceId], partition: partitionOf(workspaceId) }
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
    for (const stored of documents) {
      if (stored === null) continue
      const { workspaces, partition } = scopeOf(stored.doc)
      if (stored.position > positions.positionOf(name, partition)) changes.recordChange(name, workspaces)
    }
  }
  return {
    ...delegate(store),
    async get(collection, id, now) {
      const found = await store.get(collection, id, now)
      check(collection, [found])
      return found
    },
    async getMany(collection, ids, now) {
      const found = await store.getMany(collection, ids, now)
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
