import type { Memory } from '../kernel/command.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import type { Checkpoint } from '../ports/read-store.ts'
import { foldForward } from '../runtime/fold-forward.ts'
import { POINTERS, placeOf } from '../runtime/places.ts'
import type { ReadSide } from './read-side.ts'
import { projections, upcasts } from './registry.ts'

/** A projection that has read to within this of now covers, with an hour's fold, all that was ever recorded. */
const COVERED_MS = 50 * 60_000

/**
 * Decision memory: a document of a memory's projection, folded forward from the log first where the projection lags
 * further than the hour that folds cover (Architecture §2).
 */
export function createRecall(log: EventLog, views: ReadSide['views'], clock: Clock) {
  const byName = new Map(projections.map((projection) => [projection.name, projection]))

  async function checkpointOf(name: string): Promise<Checkpoint | null> {
    const projection = byName.get(name)
    if (!projection) return null
    const pointer = await views.get(POINTERS, name)
    const active = pointer?.doc.active as { readonly checkpoint: string } | undefined
    return views.checkpoint(active?.checkpoint ?? placeOf(projection).checkpoint)
  }

  return async (memory: Memory, id: string): Promise<unknown> => {
    const projection = byName.get(memory.name)
    if (!projection) throw new TypeError(`No projection keeps the memory ${memory.name}.`)
    // Taken before the document: the document only gets newer from here on.
    const checkpoint = await checkpointOf(memory.name)
    let stored = await views.get(collectionOf(projection), id)
    if (checkpoint?.at && clock.now() - Date.parse(checkpoint.at) < COVERED_MS) return stored?.doc ?? null
    for (let after = checkpoint?.position ?? START, end = false; !end; ) {
      const page = await log.readAll(after)
      stored = foldForward(projection, id, stored, page.events, upcasts)
      after = page.position
      end = page.end
    }
    return stored?.doc ?? null
  }
}
