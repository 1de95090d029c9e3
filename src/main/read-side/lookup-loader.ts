import DataLoader from 'dataloader'
import { z } from 'zod'
import type { DecisionMemory } from '../../kernel/command.ts'
import { type AnyProjection, collectionOf } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { Checkpoint } from '../../ports/read-store.ts'
import { applyPending } from '../../runtime/projections/apply-pending.ts'
import { BUILD_ALIASES } from '../../runtime/projections/build-alias.ts'
import { buildNames } from '../../runtime/projections/build-names.ts'
import { projections, upcasts } from '../registry.ts'
import type { Views } from './remote-views.ts'

/** Maximum age of a checkpoint (ms) whose documents and one hour's fold together cover every recorded event. */
const COVERED_MS = 50 * 60_000

/** The part of an alias that names the checkpoint of the active build. */
const activeCheckpoint = z.object({ active: z.object({ checkpoint: z.string() }) })

type LookupViews = Pick<Views, 'get' | 'getMany' | 'checkpoint'>

async function checkpointOf(views: LookupViews, projection: AnyProjection): Promise<Checkpoint | null> {
  const alias = await views.get(BUILD_ALIASES, projection.name)
  return views.checkpoint(
    alias ? activeCheckpoint.parse(alias.doc).active.checkpoint : buildNames(projection).checkpoint,
  )
}

/**
 * Creates the look-ups of decisions: documents of a memory's projection. Where the projection lags further than the hour
 * that folds cover, the missing events are applied from the log first (Architecture §2). Keys of one decision share one
 * read; nothing is cached between decisions.
 */
export function createLookupLoader(log: EventLog, views: LookupViews, clock: Clock) {
  async function load(projection: AnyProjection, keys: readonly string[]): Promise<readonly unknown[]> {
    const ids = [...new Set(keys)]
    // Read before the documents, which only get newer: no event between the two is missed.
    const checkpoint = await checkpointOf(views, projection)
    const found = new Map((await views.getMany(collectionOf(projection), ids)).map((stored) => [stored.id, stored]))
    const documents = () => keys.map((key) => found.get(key)?.doc ?? null)
    if (checkpoint?.at && clock.now() - Date.parse(checkpoint.at) < COVERED_MS) return documents()
    for (let after = checkpoint?.position ?? START, end = false; !end; ) {
      const page = await log.readAll(after)
      for (const id of ids) {
        const stored = applyPending(projection, id, found.get(id) ?? null, page.events, upcasts)
        if (stored) found.set(id, stored)
        else found.delete(id)
      }
      after = page.position
      end = page.end
    }
    return documents()
  }

  // Without a cache, every decision reads; the microtask collects the keys that one decision asks for in one turn.
  const options = { cache: false, batchScheduleFn: queueMicrotask }
  const loaders = new Map(
    projections.map((projection) => [
      projection.name,
      new DataLoader<string, unknown>((keys) => load(projection, keys), options),
    ]),
  )

  return async ({ name }: DecisionMemory, id: string): Promise<unknown> => {
    const loader = loaders.get(name)
    if (!loader) throw new TypeError(`No projection keeps the memory ${name}.`)
    return loader.load(id)
  }
}
