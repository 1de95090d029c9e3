import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, keysOf, reduce, withDerivedFields } from '../../kernel/projection.ts'
import type { Doc, StoredDocument } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'

/**
 * Folds events (in log order) that its projection has not folded yet into a stored document (null: none). Events at or
 * before its position, or of other documents, change nothing. Returns null when there is no document afterwards.
 */
export function applyPending(
  projection: AnyProjection,
  id: string,
  stored: StoredDocument | null,
  events: readonly RecordedEvent[],
  upcasts: Upcasts,
): StoredDocument | null {
  let doc: Doc | null = stored?.doc ?? null
  let position = stored?.position ?? Number.NEGATIVE_INFINITY
  for (const raw of events) {
    if (raw.position <= position || !(raw.type in projection.events)) continue
    const event = upcast({ upcasts }, raw)
    if (!keysOf(projection, event).includes(id)) continue
    doc = reduce(projection, doc, event, id)
    position = event.position
  }
  if (doc === null) return null
  return { id, position, doc: doc === stored?.doc ? doc : withDerivedFields(projection, doc) }
}
