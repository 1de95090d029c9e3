import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, collectionOf, keysOf } from '../../kernel/projection.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { applyPending } from '../projections/apply-pending.ts'

/**
 * Read-store decorator: documents read by id include these events (in log order) that their projections have not folded
 * yet. Documents found by a filter are as stored.
 */
export function withPendingEvents(
  store: ReadStore,
  projections: readonly AnyProjection[],
  events: readonly RecordedEvent[],
): ReadStore {
  const byCollection = new Map(projections.map((projection) => [collectionOf(projection), projection]))

  /** The documents of a collection that the events touch. */
  function touched(projection: AnyProjection): ReadonlySet<string> {
    return new Set(events.flatMap((event) => (event.type in projection.events ? keysOf(projection, event) : [])))
  }

  async function getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]> {
    const stored = await store.getMany(collection, ids)
    const projection = byCollection.get(collection)
    if (!projection) return stored
    const moved = touched(projection)
    const known = new Map(stored.map((found) => [found.id, found]))
    return ids.flatMap((id) => {
      const found = known.get(id) ?? null
      return (moved.has(id) ? applyPending(projection, id, found, events) : found) ?? []
    })
  }

  return {
    ...store,
    getMany,
    get: async (collection, id) => (await getMany(collection, [id]))[0] ?? null,
  }
}
