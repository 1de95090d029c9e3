import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, reduce, withDerivedFields } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import { type Doc, type DocumentWrite, type ReadStore, workspaceOf } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import type { FoldedDocument, ProjectionLane } from './projection-lane.ts'

/** How long (ms) a guard refuses older writes of a removed document: those of a lost owner may land late. */
export const GUARD_MS = 3_600_000

/** An error of a reducer, and the event that it was thrown on. */
export interface ReducerFault {
  readonly event: RecordedEvent
  readonly error: unknown
}

/** A batch folded in memory: the writes, the position that it reaches, and the fault that ended it. */
export interface Batch {
  /** Emitted documents come first: once the others are written, their events are not folded, nor emitted from, again. */
  readonly writes: readonly DocumentWrite[]
  /** Position and recorded time that the batch reaches. */
  readonly position: number
  readonly at: string | null
  readonly events: number
  readonly fault: ReducerFault | null
}

/** A document that an event touches. */
interface Touch {
  readonly event: RecordedEvent
  readonly id: string
}

/** The documents that the events of the inbox, upcast, touch one after the other, up to the first event that throws. */
function touchesOf(
  lane: ProjectionLane,
  upcasts: Upcasts,
): { readonly touches: readonly Touch[]; readonly fault: ReducerFault | null } {
  const touches: Touch[] = []
  for (const raw of lane.inbox) {
    try {
      const event = upcasts[raw.type] === undefined ? raw : upcast({ upcasts }, raw)
      const ids = lane.projection.key(event)
      if (typeof ids === 'string') touches.push({ event, id: ids })
      else if (ids !== null) for (const id of ids) touches.push({ event, id })
    } catch (error) {
      return { touches, fault: { event: raw, error } }
    }
  }
  return { touches, fault: null }
}

/** A document that the store does not have. */
const NO_DOCUMENT = { doc: null, position: START, workspaceId: '' }

/** The documents of a batch: from the cache, the others with one read of the store. @throws StoreUnavailable */
async function load(
  lane: ProjectionLane,
  store: ReadStore,
  touches: readonly Touch[],
): Promise<Map<string, FoldedDocument>> {
  const docs = new Map<string, FoldedDocument>()
  const missing: string[] = []
  for (const { id } of touches) {
    if (docs.has(id)) continue
    const cached = lane.recent.get(id) ?? lane.older.get(id)
    if (!cached) missing.push(id)
    const { doc, position, workspaceId } = cached ?? NO_DOCUMENT
    docs.set(id, { doc, position, workspaceId, isStored: doc !== null, changed: false })
  }
  const stored = missing.length > 0 ? await store.getMany(lane.names.collection, missing) : []
  for (const { id, doc, position } of stored)
    docs.set(id, { doc, position, workspaceId: workspaceOf(doc), isStored: true, changed: false })
  return docs
}

/**
 * Folds the lane's inbox over its documents; a document skips events at or before its own position. `reach` is the
 * position and time of the whole page, `now` the present instant (ms). A reducer error ends the batch right before its event, so that the events before
 * it can be committed. @throws StoreUnavailable
 */
export async function foldBatch(
  lane: ProjectionLane,
  store: ReadStore,
  upcasts: Upcasts,
  reach: { readonly position: number; readonly at: string | null },
  now: number,
): Promise<Batch & { readonly docs: ReadonlyMap<string, FoldedDocument> }> {
  const { touches, fault: unreadable } = touchesOf(lane, upcasts)
  const docs = await load(lane, store, touches)
  const emitted: DocumentWrite[] = []
  const reduced = reduceAll(lane, touches, docs, emitted, now)
  const writes: DocumentWrite[] = []
  const underived = deriveAll(lane, store, touches, docs, writes, now)
  if (underived) {
    return { writes: [], docs, position: lane.read, at: lane.at, events: 0, fault: underived }
  }
  const fault = reduced ?? unreadable
  if (!fault) return { writes: [...emitted, ...writes], docs, ...reach, events: lane.inbox.length, fault }
  const faultAt = lane.inbox.findIndex((event) => event.position >= fault.event.position)
  const before = lane.inbox.slice(0, faultAt).at(-1)
  return {
    writes: [...emitted, ...writes],
    docs,
    position: before?.position ?? lane.read,
    at: before?.meta.at ?? lane.at,
    events: faultAt,
    fault,
  }
}

/** Folds every event into its documents, and collects the emitted documents in `emitted`. */
function reduceAll(
  { projection, names: { collection } }: ProjectionLane,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, FoldedDocument>,
  emitted: DocumentWrite[],
  now: number,
): ReducerFault | null {
  const { emit } = projection
  for (const { event, id } of touches) {
    const { position } = event
    const folded = docs.get(id)
    if (!folded || position <= folded.position) continue
    try {
      const next: Doc | null = reduce(projection, folded.doc, event, id)
      if (emit && next) {
        for (const row of emit(next, event, id)) {
          const doc = withDerivedFields(projection, row.doc)
          emitted.push({
            collection,
            id: row.id,
            doc,
            position,
            expiresAt: expiryOf(projection, doc, now),
            isFirst: true,
          })
        }
      }
      if (next !== folded.doc) {
        if (next) folded.workspaceId = sameWorkspace(folded, workspaceOf(next), id)
        folded.doc = next
        folded.changed = true
      }
      folded.position = position
    } catch (error) {
      return { event, error }
    }
  }
  return null
}

/**
 * When a document expires. One that had expired before it was written expires at once: in a rebuild, the time that a store
 * gives itself to delete begins with the write.
 */
function expiryOf({ expiresAt }: AnyProjection, doc: Doc, now: number): number | null {
  const at = expiresAt?.(doc) ?? null
  return at === null ? null : Math.max(at, now)
}

/** The workspace of a changed document. @throws Error when it is another than before: stores are partitioned by it */
function sameWorkspace({ doc, workspaceId }: FoldedDocument, next: string, id: string): string {
  if (doc !== null && workspaceId !== next) throw new Error(`Document ${id} changes its workspace.`)
  return next
}

/** Collects the changed documents, with their derived fields, in `writes`. When deriving throws, nothing of the batch is written. */
function deriveAll(
  { projection, names: { collection } }: ProjectionLane,
  { atomic }: ReadStore,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, FoldedDocument>,
  writes: DocumentWrite[],
  now: number,
): ReducerFault | null {
  for (const [id, folded] of docs) {
    const { position, workspaceId, isStored, changed } = folded
    if (!changed || (atomic && !isStored && folded.doc === null)) continue
    try {
      folded.doc = folded.doc && withDerivedFields(projection, folded.doc)
    } catch (error) {
      const last = touches.find(({ event }) => event.position === position)
      if (!last) throw error
      return { event: last.event, error }
    }
    const { doc } = folded
    const write = doc
      ? { doc, expiresAt: expiryOf(projection, doc, now) }
      : { doc, workspaceId, expiresAt: now + GUARD_MS }
    writes.push({ collection, id, position, isStored, ...write })
  }
  return null
}
