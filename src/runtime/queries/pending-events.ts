import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, collectionOf, keysOf } from '../../kernel/projection.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { applyPending } from '../projections/apply-pending.ts'
import type { Upcasts } from '../upcasts.ts'

/**
 * Read-store decorator: documents read by id include these events (in log order) that their projections have not folded
 * yet. Documents found by a filter are as stored.
 */
export function withPendingEvents(
  store: ReadStore,
  projections: readonly AnyProjection[],
  events: readonly RecordedEvent[],
  upcasts: Upcasts,
): ReadStore {
  const byCollection = new Map(projections.map((projection) => [collectionOf(projection), projection]))

  /** The documents of a collection that the events touch. */
  function touched(projection: AnyProjection): ReadonlySet<string> {
    return new Set(events.flatMap((event) => (event.type in projection.events ? keysOf(projection, event) : [])))
  }

  async function getMany(collection: string, ids: readonly string[], now?: number): Promise<readonly StoredDocument[]> {
    const stored = await store.getMany(collection, ids, now)
    const projection = byCollection.get(collection)
    if (!projection) return stored
    const moved = touched(projection)
    const known = new Map(stored.map((found) => [found.id, found]))
    return ids.flatMap((id) => {
      const found = known.get(id) ?? null
      return (moved.has(id) ? applyPending(projection, id, found, events, upcasts) : found) ?? []
    })
  }

  return {
    ...store,
    getMany,
    get: async (collection, id, now) => (await getMany(collection, [id], now))[0] ?? null,
  }
}
