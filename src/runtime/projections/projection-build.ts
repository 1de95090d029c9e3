import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, keysOf, reduce, withDerivedFields } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { Doc, DocumentWrite, ReadStore } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import type { BuildNames } from './build-names.ts'

/** `running` folds; `standby` leaves it to another runner; `halted` by its own reducer. */
export type BuildState = 'running' | 'standby' | 'halted'

/** A document as far as this lane has folded it. Null: there is none. */
interface Folded {
  doc: Doc | null
  /** START when the store has none. */
  position: number
  /** Whether the store has one. */
  readonly held: boolean
  changed: boolean
}

/** One build of a projection on its way through the log. */
export interface ProjectionBuild {
  readonly projection: AnyProjection
  readonly names: BuildNames
  /** Built beside the active one; nobody reads it yet. */
  building: boolean
  state: BuildState
  /** Documents stand at this position; null until the checkpoint has been read. */
  position: number | null
  /** The checkpoint as the store has it; null when it has none. */
  committed: number | null
  /** Recorded time of the last event seen (ISO). */
  at: string | null
  /** When the checkpoint was last written (ms). */
  committedAt: number
  /** Events seen and folded since this process began, and how many had been seen at the last checkpoint. */
  seen: number
  seenBefore: number
  events: number
  /** Failures in a row, and the instant (ms) before which nothing is tried again. */
  failures: number
  notBefore: number
  /** Since when (ms) a stand-by has seen its owner stand still; null while it moves. */
  stillSince: number | null
  problem: string | null
  /** Events of the page in hand that are its concern. */
  inbox: RecordedEvent[]
  /** Documents of the last batches: what is folded again soon need not be loaded again. */
  recent: Map<string, Folded>
  older: Map<string, Folded>
}

const RECENT_DOCS = 2_000

/** A lane whose checkpoint has not been read yet. */
export function createBuild(projection: AnyProjection, names: BuildNames, building: boolean): ProjectionBuild {
  return {
    projection,
    names,
    building,
    state: 'running',
    position: null,
    committed: null,
    at: null,
    committedAt: 0,
    seen: 0,
    seenBefore: 0,
    events: 0,
    failures: 0,
    notBefore: 0,
    stillSince: null,
    problem: null,
    inbox: [],
    recent: new Map(),
    older: new Map(),
  }
}

/** Makes the lane read its checkpoint again before anything else: what the store has of it is not known. */
export function resetCheckpoint(lane: ProjectionBuild): void {
  lane.position = null
  lane.inbox = []
  lane.recent = new Map()
  lane.older = new Map()
}

/** A reducer that threw, and where. */
export interface Fault {
  readonly event: RecordedEvent
  readonly error: unknown
}

/** A batch folded in memory: what is to be written, how far it got, and what stopped it. */
export interface Batch {
  /** Documents beside those that are folded; to be written before them, for a fold that has passed an event emits no more of it. */
  readonly emitted: readonly DocumentWrite[]
  readonly writes: readonly DocumentWrite[]
  /** Position and recorded time that the batch reaches. */
  readonly position: number
  readonly at: string | null
  readonly events: number
  readonly fault: Fault | null
}

interface Touch {
  readonly event: RecordedEvent
  readonly ids: readonly string[]
}

/** Current versions of the events and the documents that they touch, up to the first that cannot be told. */
function touchesOf(
  lane: ProjectionBuild,
  upcasts: Upcasts,
): { readonly touches: readonly Touch[]; readonly fault: Fault | null } {
  const touches: Touch[] = []
  for (const raw of lane.inbox) {
    try {
      const event = upcasts[raw.type] === undefined ? raw : upcast({ upcasts }, raw)
      touches.push({ event, ids: keysOf(lane.projection, event) })
    } catch (error) {
      return { touches, fault: { event: raw, error } }
    }
  }
  return { touches, fault: null }
}

/** A document that the store does not have. */
const NOTHING = { doc: null, position: START }

/** The documents of a batch: those of recent batches as they are, the others by one look into the store. */
async function load(lane: ProjectionBuild, store: ReadStore, touches: readonly Touch[]): Promise<Map<string, Folded>> {
  const docs = new Map<string, Folded>()
  const missing: string[] = []
  for (const { ids } of touches) {
    for (const id of ids) {
      if (docs.has(id)) continue
      const kept = lane.recent.get(id) ?? lane.older.get(id)
      if (!kept) missing.push(id)
      const { doc, position } = kept ?? NOTHING
      docs.set(id, { doc, position, held: doc !== null, changed: false })
    }
  }
  const stored = missing.length > 0 ? await store.getMany(lane.names.collection, missing) : []
  for (const { id, doc, position } of stored) docs.set(id, { doc, position, held: true, changed: false })
  return docs
}

/**
 * Folds the lane's inbox over its documents, each behind its own position only. `reach` is what the whole page comes to.
 * Where a reducer throws the batch ends right before that event, so that what came before is kept.
 */
export async function foldBatch(
  lane: ProjectionBuild,
  store: ReadStore,
  upcasts: Upcasts,
  reach: { readonly position: number; readonly at: string | null },
): Promise<Batch & { readonly docs: ReadonlyMap<string, Folded> }> {
  const { touches, fault: unreadable } = touchesOf(lane, upcasts)
  const docs = await load(lane, store, touches)
  const emitted: DocumentWrite[] = []
  const reduced = reduceAll(lane, touches, docs, emitted)
  const writes: DocumentWrite[] = []
  const unfinished = finishAll(lane, store, touches, docs, writes)
  if (unfinished) {
    const { position, at } = lane
    return { emitted: [], writes: [], docs, position: position ?? START, at, events: 0, fault: unfinished }
  }
  const fault = reduced ?? unreadable
  if (!fault) return { emitted, writes, docs, ...reach, events: touches.length, fault }
  const before = lane.inbox
    .slice(
      0,
      lane.inbox.findIndex((event) => event.position >= fault.event.position),
    )
    .at(-1)
  return {
    emitted,
    writes,
    docs,
    position: before?.position ?? lane.position ?? START,
    at: before?.meta.at ?? lane.at,
    events: touches.filter(({ event }) => event.position < fault.event.position).length,
    fault,
  }
}

/** Folds every touch, and puts what is emitted on the way into `emitted`. */
function reduceAll(
  { projection, names: { collection } }: ProjectionBuild,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, Folded>,
  emitted: DocumentWrite[],
): Fault | null {
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

/** Puts the documents that the batch changed, finished, into `writes`. One that cannot be finished leaves nothing of the batch. */
function finishAll(
  { projection, names: { collection } }: ProjectionBuild,
  { atomic }: ReadStore,
  touches: readonly Touch[],
  docs: ReadonlyMap<string, Folded>,
  writes: DocumentWrite[],
): Fault | null {
  for (const [id, folded] of docs) {
    const { position, held, changed } = folded
    if (!changed || (atomic && !held && folded.doc === null)) continue
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

/** Keeps the documents of a committed batch for the next ones, and forgets those long untouched. */
export function cacheDocuments(lane: ProjectionBuild, docs: ReadonlyMap<string, Folded>): void {
  for (const [id, folded] of docs) {
    folded.changed = false
    lane.recent.set(id, folded)
  }
  if (lane.recent.size < RECENT_DOCS) return
  lane.older = lane.recent
  lane.recent = new Map()
}
