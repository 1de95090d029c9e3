import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { keysOf, reduce, withDerivedFields } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { Doc, DocumentWrite, ReadStore } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import { type FoldedDocument, type ProjectionBuild, positionOf } from './projection-build.ts'

/** An error of a reducer, and the event that it was thrown on. */
export interface ReducerFault {
  readonly event: RecordedEvent
  readonly error: unknown
}

/** A batch folded in memory: the writes, the position that it reaches, and the fault that ended it. */
export interface Batch {
  /** Emitted documents. Written first: once the others are written, their events are not folded, nor emitted from, again. */
  readonly emitted: readonly DocumentWrite[]
  readonly writes: readonly DocumentWrite[]
  /** Position and recorded time that the batch reaches. */
  readonly position: number
  readonly at: string | null
  readonly events: number
  readonly fault: ReducerFault | null
}

interface Touch {
  readonly event: RecordedEvent
  readonly ids: readonly string[]
}

/** The inbox upcast, with the ids of the documents that each event touches, up to the first event that throws. */
function touchesOf(
  build: ProjectionBuild,
  upcasts: Upcasts,
): { readonly touches: readonly Touch[]; readonly fault: ReducerFault | null } {
  const touches: Touch[] = []
  for (const raw of build.inbox) {
    try {
      const event = upcasts[raw.type] === undefined ? raw : upcast({ upcasts }, raw)
      touches.push({ event, ids: keysOf(build.projection, event) })
    } catch (error) {
      return { touches, fault: { event: raw, error } }
    }
  }
  return { touches, fault: null }
}

/** A document that the store does not have. */
const NO_DOCUMENT = { doc: null, position: START }

/** The documents of a batch: from the cache, the others with one read of the store. @throws StoreUnavailable */
async function load(
  build: ProjectionBuild,
  store: ReadStore,
  touches: readonly Touch[],
): Promise<Map<string, FoldedDocument>> {
  const docs = new Map<string, FoldedDocument>()
  const missing: string[] = []
  for (const { ids } of touches) {
    for (const id of ids) {
      if (docs.has(id)) continue
      const cached = build.recent.get(id) ?? build.older.get(id)
      if (!cached) missing.push(id)
      const { doc, position } = cached ?? NO_DOCUMENT
      docs.set(id, { doc, position, isStored: doc !== null, changed: false })
    }
  }
  const stored = missing.length > 0 ? await store.getMany(build.names.collection, missing) : []
  for (const { id, doc, position } of stored) docs.set(id, { doc, position, isStored: true, changed: false })
  return docs
}

/**
 * Folds the build's inbox over its documents; a document skips events at or before its own position. `reach` is the
 * position and time of the whole page. A reducer error ends the batch right before its event, so that the events before
 * it can be committed. @throws StoreUnavailable
 */
export async function foldBatch(
  build: ProjectionBuild,
  store: ReadStore,
  upcasts: Upcasts,
  reach: { readonly position: number; readonly at: string | null },
): Promise<Batch & { readonly docs: ReadonlyMap<string, FoldedDocument> }> {
  const { touches, fault: unreadable } = touchesOf(build, upcasts)
  const docs = await load(build, store, touches)
  const emitted: DocumentWrite[] = []
  const reduced = reduceAll(build, touches, docs, emitted)
  const writes: DocumentWrite[] = []
  const underived = deriveAll(build, store, touches, docs, writes)
  if (underived) {
    return { emitted: [], writes: [], docs, position: positionOf(build), at: build.at, events: 0, fault: underived }
  }
  const fault = reduced ?? unreadable
  if (!fault) return { emitted, writes, docs, ...reach, events: touches.length, fault }
  const faultAt = build.inbox.findIndex((event) => event.position >= fault.event.position)
  const before = build.inbox.slice(0, faultAt).at(-1)
  return {
    emitted,
    writes,
    docs,
    position: before?.position ?? positionOf(build),
    at: before?.meta.at ?? build.at,
    events: touches.filter(({ event }) => event.position < fault.event.position).length,
    fault,
  }
}

/** Folds every event into its documents, and collects the emitted documents in `emitted`. */
function reduceAll(
  { projection, names: { collection } }: ProjectionBuild,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, FoldedDocument>,
  emitted: DocumentWrite[],
): ReducerFault | null {
  const { emit } = projection
  for (const { event, ids } of touches) {
    const { position } = event
    for (const id of ids) {
      const folded = docs.get(id)
      if (!folded || position <= folded.position) continue
      try {
        const next: Doc | null = reduce(projection, folded.doc, event, id)
        if (emit && next) {
          for (const row of emit(next, event, id))
            emitted.push({ collection, id: row.id, doc: withDerivedFields(projection, row.doc), position })
        }
        if (next !== folded.doc) {
          folded.doc = next
          folded.changed = true
        }
        folded.position = position
      } catch (error) {
        return { event, error }
      }
    }
  }
  return null
}

/** Collects the changed documents, with their derived fields, in `writes`. When deriving throws, nothing of the batch is written. */
function deriveAll(
  { projection, names: { collection } }: ProjectionBuild,
  { atomic }: ReadStore,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, FoldedDocument>,
  writes: DocumentWrite[],
): ReducerFault | null {
  for (const [id, folded] of docs) {
    const { position, isStored, changed } = folded
    if (!changed || (atomic && !isStored && folded.doc === null)) continue
    try {
      folded.doc = folded.doc && withDerivedFields(projection, folded.doc)
    } catch (error) {
      const last = touches.find(({ event }) => event.position === position)
      if (!last) throw error
      return { event: last.event, error }
    }
    writes.push({ collection, id, doc: folded.doc, position })
  }
  return null
}
