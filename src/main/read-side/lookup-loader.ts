import type { DecisionMemory } from '../../kernel/command.ts'
import { collectionOf } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { Checkpoint, StoredDocument } from '../../ports/read-store.ts'
import { applyPending } from '../../runtime/projections/apply-pending.ts'
import { BUILD_ALIASES } from '../../runtime/projections/build-alias.ts'
import { buildNames } from '../../runtime/projections/build-names.ts'
import { projections, upcasts } from '../registry.ts'
import type { ReadSide } from './read-side.ts'

/** A projection that has read to within this of now covers, with an hour's fold, all that was ever recorded. */
const COVERED_MS = 50 * 60_000

type Found = ReadonlyMap<string, StoredDocument>

/** Look-ups that are asked for at once, and what they come to. */
interface Batch {
  readonly ids: Set<string>
  readonly found: Promise<Found>
}

/**
 * Decision memory: documents of a memory's projection, folded forward from the log first where the projection lags
 * further than the hour that folds cover (Architecture §2). What one decision asks for is read at once: it may be much.
 */
export function createLookupLoader(log: EventLog, views: ReadSide['views'], clock: Clock) {
  const byName = new Map(projections.map((projection) => [projection.name, projection]))
  const batches = new Map<string, Batch>()

  async function checkpointOf(name: string): Promise<Checkpoint | null> {
    const projection = byName.get(name)
    if (!projection) return null
    const pointer = await views.get(BUILD_ALIASES, name)
    const active = pointer?.doc.active as { readonly checkpoint: string } | undefined
    return views.checkpoint(active?.checkpoint ?? buildNames(projection).checkpoint)
  }

  async function read(name: string, ids: readonly string[]): Promise<Found> {
    const projection = byName.get(name)
    if (!projection) throw new TypeError(`No projection keeps the memory ${name}.`)
    // Taken before the documents: they only get newer from here on.
    const checkpoint = await checkpointOf(name)
    const found = new Map((await views.getMany(collectionOf(projection), ids)).map((stored) => [stored.id, stored]))
    if (checkpoint?.at && clock.now() - Date.parse(checkpoint.at) < COVERED_MS) return found
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
    return found
  }

  function begin(name: string): Batch {
    const ids = new Set<string>()
    const found = Promise.resolve().then(() => {
      batches.delete(name)
      return read(name, [...ids])
    })
    const batch = { ids, found }
    batches.set(name, batch)
    return batch
  }

  return async ({ name }: DecisionMemory, id: string): Promise<unknown> => {
    const { ids, found } = batches.get(name) ?? begin(name)
    ids.add(id)
    return (await found).get(id)?.doc ?? null
  }
}
