import { describe, expect, it } from 'vitest'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { inboundBatches, outboundBatches } from '../../../queries/auctions/pings-export.ts'
import { EXPORT } from '../../../src/domain/shared/limits.ts'
import { collectionOf } from '../../../src/kernel/projection.ts'
import type { DocumentWrite } from '../../../src/ports/read-store.ts'
import { auctionId, bidId, loggedPings } from '../../support/fixtures/logged-pings.ts'
import { project } from '../../support/fixtures/project.ts'
import { idOf, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const NOW_MS = Date.parse(NOW)
const [ping, bid] = [
  (await project(pingLedger, loggedPings))[auctionId(1)],
  (await project(bidLedger, loggedPings))[bidId(11, 1)],
]
const selection = { filter: { workspaceId: WORKSPACE }, fromMs: NOW_MS - 1_000_000, toMs: NOW_MS }

/** A store of pings that came so many milliseconds before now. */
async function storeOf(before: readonly number[]) {
  const store = createMemoryReadStore()
  const write = (ms: number, n: number): DocumentWrite => ({
    collection: collectionOf(pingLedger),
    id: idOf(n),
    position: n,
    doc: { ...ping, atMs: NOW_MS - ms },
  })
  const add = (writes: readonly DocumentWrite[]) =>
    store.commit(writes, { name: 'pings', expected: null, next: { position: 0, at: null } })
  await add(before.map(write))
  return { store, write }
}

async function read(batches: AsyncIterable<readonly { readonly id: string }[]>) {
  const all: (readonly string[])[] = []
  for await (const batch of batches) all.push(batch.map(({ id }) => id))
  return all
}

const each = (count: number, msOf: (n: number) => number) => Array.from({ length: count }, (_, n) => msOf(n))
const ids = (count: number) => each(count, (n) => n).map(idOf)

describe('rows of the ping export', () => {
  it('come newest first in batches, each ping once, however many came in one millisecond', async () => {
    const count = 2 * EXPORT.batch + 10
    for (const msOf of [(n: number) => n + 1, (n: number) => Math.floor(n / 7) + 1, () => 5]) {
      const { store } = await storeOf(each(count, msOf))
      const batches = await read(inboundBatches(store, selection))
      expect(batches.map(({ length }) => length)).toEqual([EXPORT.batch, EXPORT.batch, 10])
      expect(batches.flat()).toEqual(ids(count))
    }
  })

  it('are not shifted by pings that arrive meanwhile', async () => {
    const count = EXPORT.batch + 5
    const { store, write } = await storeOf(each(count, (n) => n + 10))
    const batches = inboundBatches(store, selection)
    const first = await batches.next()
    await store.commit([write(1, 90_000)], { name: 'others', expected: null, next: { position: 1, at: null } })
    const rest = await read(batches)
    expect([...(first.value ?? []).map(({ id }: { readonly id: string }) => id), ...rest.flat()]).toEqual(ids(count))
  })

  it(`are at most ${EXPORT.pings}, the newest`, async () => {
    const { store } = await storeOf(each(EXPORT.pings + 3, (n) => n + 1))
    const rows = (await read(inboundBatches(store, selection))).flat()
    expect(rows).toHaveLength(EXPORT.pings)
    expect(rows.at(-1)).toBe(idOf(EXPORT.pings - 1))
  })

  it('of bidders stand as they are at the instant of the export', async () => {
    const store = createMemoryReadStore()
    const doc = { ...bid, atMs: NOW_MS - 1 }
    const next = { position: 1, at: null }
    const collection = collectionOf(bidLedger)
    await store.commit([{ collection, id: idOf(1), position: 1, doc }], { name: 'bids', expected: null, next })
    const statusAt = async (nowMs: number) => {
      for await (const [row] of outboundBatches(store, selection, nowMs)) return row?.status
      return null
    }
    expect([await statusAt(NOW_MS), await statusAt(NOW_MS + 60_000)]).toEqual(['won', 'expired'])
  })
})
