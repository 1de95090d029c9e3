import DataLoader from 'dataloader'
import type { DecisionMemory } from '../../kernel/command.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { StoredDocument } from '../../ports/read-store.ts'
import { applyPending } from '../projections/apply-pending.ts'
import { COVERED_MS, createGapIndex, type GapIndex, type GapPorts } from './gap-index.ts'
import type { LookupReader } from './lookup-reader.ts'

/** Looks a document of a decision memory up by its id; null for none. @throws LogUnavailable, StoreUnavailable */
export type LookUp = (memory: DecisionMemory, id: string) => Promise<unknown>

/** Creates the look-ups in one projection, many ids at once. */
function createProjectionLookup(ports: GapPorts, read: LookupReader, projection: AnyProjection) {
  const { clock, upcasts } = ports
  let gap: GapIndex | null = null

  function gapAfter(position: number): GapIndex {
    // A build that begins earlier than the index is another one: a rebuild, or one of a projection that was lost.
    if (gap === null || gap.from() > position) gap = createGapIndex(ports, projection, position)
    return gap
  }

  function documentOf(stored: Pick<StoredDocument, 'doc'> | null | undefined): unknown {
    const expiresAt = stored ? (projection.expiresAt?.(stored.doc) ?? null) : null
    return expiresAt === null || expiresAt > clock.now() ? (stored?.doc ?? null) : null
  }

  return async (ids: readonly string[]): Promise<readonly unknown[]> => {
    const { checkpoint, documents } = await read(projection.name, [...new Set(ids)])
    const stored = new Map(documents.map((one) => [one.id, one]))
    if (checkpoint?.at && clock.now() - Date.parse(checkpoint.at) < COVERED_MS) {
      gap = null
      return ids.map((id) => documentOf(stored.get(id)))
    }
    const position = checkpoint?.position ?? START
    const events = await gapAfter(position).eventsOf(ids, position)
    return ids.map((id) => documentOf(applyPending(projection, id, stored.get(id) ?? null, events, upcasts)))
  }
}

/**
 * Creates the look-ups of decisions: documents of a memory's projection, and where that lags further than the hour that
 * folds cover, the events that it lacks folded into them (Architecture §2). Keys of one decision share one read; no
 * document is cached between decisions.
 */
export function createLookupLoader({
  read,
  projections,
  ...ports
}: GapPorts & { readonly read: LookupReader; readonly projections: readonly AnyProjection[] }): LookUp {
  // Without a cache, every decision reads; the microtask collects the keys that one decision asks for in one turn.
  const options = { cache: false, batchScheduleFn: queueMicrotask }
  const loaders = new Map(
    projections.map((projection) => [
      projection.name,
      new DataLoader<string, unknown>(createProjectionLookup(ports, read, projection), options),
    ]),
  )
  return async ({ name }, id) => {
    const loader = loaders.get(name)
    if (!loader) throw new TypeError(`No projection keeps the memory ${name}.`)
    return loader.load(id)
  }
}
