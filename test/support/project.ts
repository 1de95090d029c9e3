import type { RecordedEvent } from '../../src/kernel/event.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { keysOf, reduce } from '../../src/kernel/projection.ts'
import type { Doc, Write } from '../../src/ports/read-store.ts'
import { placeOf } from '../../src/runtime/places.ts'
import { type Batch, createLane, foldBatch, remember, unsettle } from '../../src/runtime/projection-lane.ts'
import { createMemoryReadStore } from './memory-read-store.ts'

/**
 * Where the process dies over a batch, so that it comes again: with some of what is emitted written, or all of that and
 * some of the documents, or everything but the checkpoint.
 */
export const deaths = ['emitting', 'writing', 'moving'] as const

/** How a log is dealt out: a batch of so many events, and how it dies; null when it does not. */
export interface Deal {
  readonly size: number
  readonly death: (typeof deaths)[number] | null
}

/** A store writes a batch in any order: what a death leaves of it. */
const some = (writes: readonly Write[]) => writes.filter((_write, place) => place % 2 === writes.length % 2)

const landed = ({
  emitted,
  writes,
}: Pick<Batch, 'emitted' | 'writes'>): Readonly<Record<string, readonly Write[]>> => ({
  emitting: some(emitted),
  writing: [...emitted, ...some(writes)],
  moving: [...emitted, ...writes],
})

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
      commit: (writes: readonly Write[], expected: number | null) =>
        store.commit(writes, { name: place.checkpoint, expected, next }),
    }
  }
  let at = 0
  for (const { size, death } of [...deals, { size: events.length, death: null }]) {
    const batch = events.slice(at, at + size)
    const { folded, commit } = await fold(batch)
    if (death) {
      // The next one begins with a part of the same.
      await commit(landed(folded)[death] ?? [], -99)
      unsettle(lane)
    } else {
      await commit([...folded.emitted, ...folded.writes], lane.committed)
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
