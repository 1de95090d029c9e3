import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, collectionOf, keysOf } from '../../kernel/projection.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { applyPending } from '../projections/apply-pending.ts'
import { delegate } from '../projections/delegate-store.ts'
import type { Upcasts } from '../upcasts.ts'

/**
 * Read-store decorator: documents read by id include these events (in log order) that their projections have not folded
 * yet. Documents found by a filter are as stored, and so are those that a projection emits beside its own: `onUnapplied` is
 * called where such a read may lack some of the events.
 */
export function withPendingEvents(
  store: ReadStore,
  projections: readonly AnyProjection[],
  events: readonly RecordedEvent[],
  upcasts: Upcasts,
  onUnapplied: () => void = () => undefined,
): ReadStore {
  const byCollection = new Map(projections.map((projection) => [collectionOf(projection), projection]))

  /** The documents of a collection that the events touch. */
  function touched(projection: AnyProjection): ReadonlySet<string> {
    return new Set(events.flatMap((event) => (event.type in projection.events ? keysOf(projection, event) : [])))
  }

  /** Before a read of documents as they are stored. */
  function readStored(collection: string): void {
    const projection = byCollection.get(collection)
    if (projection && touched(projection).size > 0) onUnapplied()
  }

  async function getMany(collection: string, ids: readonly string[], now?: number): Promise<readonly StoredDocument[]> {
    const stored = await store.getMany(collection, ids, now)
    const projection = byCollection.get(collection)
    if (!projection) return stored
    if (projection.emit) readStored(collection)
    const moved = touched(projection)
    const known = new Map(stored.map((found) => [found.id, found]))
    return ids.flatMap((id) => {
      const found = known.get(id) ?? null
      return (moved.has(id) ? applyPending(projection, id, found, events, upcasts) : found) ?? []
    })
  }

  /** A read by filter: of documents as they are stored. */
  const asStored =
    <Rest extends readonly unknown[], Result>(read: (collection: string, ...rest: Rest) => Result) =>
    (collection: string, ...rest: Rest): Result => {
      readStored(collection)
      return read(collection, ...rest)
    }

  const { find, findDerived, pluck, select, count, sum, sumRows, ...others } = delegate(store)
  return {
    ...others,
    getMany,
    get: async (collection, id, now) => (await getMany(collection, [id], now))[0] ?? null,
    find: asStored(find),
    findDerived(collection, page, derivation) {
      readStored(collection)
      return findDerived(collection, page, derivation)
    },
    pluck: asStored(pluck),
    select: asStored(select),
    count: asStored(count),
    sum: asStored(sum),
    sumRows: asStored(sumRows),
  }
}
