import type { RecordedEvent } from '../../src/kernel/event.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { keysOf, reduce } from '../../src/kernel/projection.ts'
import type { Doc } from '../../src/ports/read-store.ts'
import { placeOf } from '../../src/runtime/places.ts'
import { createLane, foldBatch, remember, unsettle } from '../../src/runtime/projection-lane.ts'
import { createMemoryReadStore } from './memory-read-store.ts'

/** How a log is dealt out: a batch of so many events, and whether its checkpoint is lost, so that it comes again. */
export interface Deal {
  readonly size: number
  readonly again: boolean
}

/** Documents of a projection after all events, dealt out as told (then in one batch). Throws what a reducer throws. */
export async function project(
  projection: AnyProjection,
  events: readonly RecordedEvent[],
  deals: readonly Deal[] = [],
): Promise<Readonly<Record<string, Doc>>> {
  const store = createMemoryReadStore({ atomic: false })
  const place = placeOf(projection)
  const lane = createLane(projection, place, false)
  const fold = async (batch: readonly RecordedEvent[]) => {
    lane.inbox = batch.filter(({ type }) => type in projection.events)
    const folded = await foldBatch(lane, store, {}, { position: batch.at(-1)?.position ?? -1, at: null })
    if (folded.fault) throw folded.fault.error
    const next = { position: folded.position, at: null }
    return {
      folded,
      commit: (expected: number | null) => store.commit(folded.writes, { name: place.checkpoint, expected, next }),
    }
  }
  let at = 0
  for (const { size, again } of [...deals, { size: events.length, again: false }]) {
    const batch = events.slice(at, at + size)
    if (again) {
      // Written, but the process died before its checkpoint: the next one begins with a part of the same.
      await (await fold(batch)).commit(-99)
      unsettle(lane)
    } else {
      const { folded, commit } = await fold(batch)
      await commit(lane.committed)
      lane.committed = folded.position
      remember(lane, folded.docs)
      at += batch.length
    }
  }
  return store.all(place.collection)
}

/** The events that a projection can fold: a generated order may be one that no stream ever has, and a reducer may object. */
export function foldable(projection: AnyProjection, events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const docs = new Map<string, Doc | null>()
  return events.filter((event) => {
    try {
      for (const id of keysOf(projection, event)) docs.set(id, reduce(projection, docs.get(id) ?? null, event, id))
      return true
    } catch {
      return false
    }
  })
}
