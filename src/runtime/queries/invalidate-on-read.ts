import { partitionOf } from '../../kernel/partition.ts'
import { type DerivedValue, type ReadStore, type StoredDocument, workspaceOf } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import { delegate } from '../projections/delegate-store.ts'
import type { ChangeCounters } from './change-counters.ts'

/** The workspaces that a document concerns (null: any), and the partition that its events are known to have. */
function scopeOf(workspaceId: string): {
  readonly workspaces: readonly string[] | null
  readonly partition: number | null
} {
  if (workspaceId === '') return { workspaces: null, partition: null }
  return { workspaces: [workspaceId], partition: partitionOf(workspaceId) }
}

const versionOf = ({ position, doc }: StoredDocument) => ({ position, workspaceId: workspaceOf(doc) })

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
  const check = (
    collection: string,
    read: readonly Pick<DerivedValue<unknown>, 'position' | 'workspaceId'>[],
  ): void => {
    const { name } = parseCollectionName(collection)
    for (const { position, workspaceId } of read) {
      const { workspaces, partition } = scopeOf(workspaceId)
      if (position > positions.positionOf(name, partition)) changes.recordChange(name, workspaces)
    }
  }
  return {
    ...delegate(store),
    async get(collection, id, now) {
      const found = await store.get(collection, id, now)
      if (found) check(collection, [versionOf(found)])
      return found
    },
    async getMany(collection, ids, now) {
      const found = await store.getMany(collection, ids, now)
      check(collection, found.map(versionOf))
      return found
    },
    async find(collection, page) {
      const found = await store.find(collection, page)
      check(collection, found.map(versionOf))
      return found
    },
    async findDerived(collection, page, derivation) {
      const found = await store.findDerived(collection, page, derivation)
      check(collection, found)
      return found
    },
  }
}
