import { auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { blocklistEvents } from '../../../src/domain/routing/blocklist.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { type AnyProjection, collectionOf, keysOf, reduce } from '../../../src/kernel/projection.ts'
import { projections } from '../../../src/main/registry.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { createMemoryReadStore } from '../memory/read-store.ts'

/** Events of calls, auctions and money. Projections without any of them are left out, as is the activity log. */
const callEventSchemas = { ...ledgerEvents, ...callEvents, ...auctionEvents, ...walletEvents, ...blocklistEvents }
const followed: readonly AnyProjection[] = projections.filter(
  ({ name, events }) => name !== 'activity' && Object.keys(events).some((type) => type in callEventSchemas),
)

/** Read models that queries sum and count. */
const SUMMED = ['call-log', 'usage']

/** The read models of a log, projected one event at a time. */
export function createReadModels(log: { readonly events: readonly RecordedEvent[] }) {
  const documents = new Map(followed.map(({ name }) => [name, new Map<string, Doc>()]))
  let read = 0

  function fold(event: RecordedEvent): void {
    for (const projection of followed) {
      if (!(event.type in projection.events)) continue
      const docs = documents.get(projection.name)
      for (const id of keysOf(projection, event)) {
        const doc = reduce(projection, docs?.get(id) ?? null, event, id)
        if (doc === null) docs?.delete(id)
        else docs?.set(id, doc as Doc)
      }
    }
  }

  return {
    /** Projects the events that were appended since. */
    project(): void {
      for (; read < log.events.length; read++) {
        const event = log.events[read]
        if (event) fold(event)
      }
    },
    docs: (name: string): ReadonlyMap<string, Doc> => documents.get(name) ?? new Map(),
    /** A read store with the read models that queries sum and count. */
    async store() {
      const store = createMemoryReadStore()
      for (const projection of followed.filter(({ name }) => SUMMED.includes(name))) {
        const docs = [...(documents.get(projection.name) ?? [])]
        const writes = docs.map(([id, doc]) => ({ collection: collectionOf(projection), id, doc, position: 0 }))
        await store.commit(writes, { name: projection.name, expected: null, next: { position: 0, at: null } })
      }
      return store
    },
  }
}
