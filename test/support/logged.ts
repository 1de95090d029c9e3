import { activity } from '../../projections/activity.ts'
import { checkChain } from '../../queries/activity-chain.ts'
import { workspace } from '../../src/domain/workspace.ts'
import type { NewEvent } from '../../src/kernel/event.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Doc, Stored } from '../../src/ports/read-store.ts'
import { placeOf } from '../../src/runtime/places.ts'
import { fill } from './asked.ts'
import { createMemoryReadStore } from './memory-read-store.ts'
import { idOf, recorded, WORKSPACE } from './spec.ts'

/** A buyer's cap that changes. */
export const changes = (count: number): readonly NewEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    type: 'BuyerChanged',
    data: { buyerId: idOf(9), name: 'Solar Co', before: { dailyCap: n }, after: { dailyCap: n + 1 } },
  }))

/** Events as they were recorded a minute apart, the first at the beginning of March 2026. */
export const minutely = (events: readonly NewEvent[]) =>
  recorded(workspace, events).map((event, minute) => ({
    ...event,
    meta: { ...event.meta, at: minuteOf(minute) },
  }))

/** The instant of the n-th minute (from 0). */
export function minuteOf(n: number): string {
  return new Date(Date.UTC(2026, 2, 1) + n * 60_000).toISOString()
}

const collection = collectionOf(activity)

/** An activity log of so many entries, one a minute, whose stored rows can be tampered with. */
export async function logOf(count: number) {
  const store = createMemoryReadStore()
  await fill(store, [activity], minutely(changes(count)))
  const all = (await store.find(collection, { filter: { head: false }, sort: { seq: 1 } })).map(({ id, doc }) => ({
    id,
    doc,
  }))
  let moves = count * 10
  const put = async (...rows: readonly { readonly id: string; readonly doc: Doc | null }[]) => {
    const { position } = (await store.checkpoint(placeOf(activity).checkpoint)) ?? { position: 0 }
    moves += 1
    const writes = rows.map((row) => ({ collection, ...row, position: moves }))
    await store.commit(writes, { name: placeOf(activity).checkpoint, expected: position, next: { position, at: null } })
  }
  return {
    store,
    /** The n-th entry (from 1) as it is stored. */
    row: (n: number): Pick<Stored, 'id' | 'doc'> => all[n - 1] ?? { id: '', doc: {} },
    head: async () => (await store.get(collection, WORKSPACE))?.doc ?? {},
    put,
    check: (window: { readonly from?: string; readonly to?: string } = {}) => checkChain(store, WORKSPACE, window),
  }
}
