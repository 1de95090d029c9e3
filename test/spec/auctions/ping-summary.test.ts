import { beforeAll, describe, expect, it, test } from 'vitest'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { buyers } from '../../../projections/demand/buyers.ts'
import { targets } from '../../../projections/demand/targets.ts'
import { publishers } from '../../../projections/supply/publishers.ts'
import { pingSummary } from '../../../queries/auctions/ping-summary.ts'
import { percentile } from '../../../queries/shared/percentile.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { columns } from '../../../src/main/registry.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'
import { columnParts } from '../../support/fixtures/column-parts.ts'
import { bidder1, bidder2, loggedPings, pingWorld } from '../../support/fixtures/logged-pings.ts'
import { fillStore, runQuery } from '../../support/fixtures/query-fixture.ts'
import { idOf, NOW, recordedEvents } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const store = createMemoryReadStore()
const sum = (query: object = {}, now = NOW, views: ReadStore = store) =>
  runQuery<Json>(pingSummary, views, { query, now })

beforeAll(async () => {
  const configured = recordedEvents(workspace, pingWorld.events, { from: 1_000 })
  await fillStore(store, [pingLedger, bidLedger, targets, buyers, publishers], [...loggedPings, ...configured])
})

describe('the summary of the ping ledger', () => {
  it('counts publishers’ pings by outcome, repeated offers as won, and no test ping', async () => {
    const { inbound, from, to } = await sum()
    expect(inbound).toEqual({
      pings: 10,
      won: 6,
      noBid: 1,
      rateLimited: 1,
      blocked: 1,
      errors: 1,
      winRate: 0.6,
      p50ElapsedMs: 50,
      p95ElapsedMs: 100,
      payoutOfferedCents: 6 * 1_500,
    })
    expect({ from, to }).toEqual({ from: '2026-03-04T05:00:00.000Z', to: NOW })
  })

  it('ranks the reasons of no-bids, each with its share of them', async () => {
    expect((await sum()).noBidReasons).toEqual([
      {
        code: 1004,
        reason: 'caller_blocked',
        sentence: 'The caller is blocked.',
        outcome: 'blocked',
        count: 1,
        share: 0.25,
      },
      { code: 1011, reason: 'no_bids', sentence: 'No buyer gave a price.', outcome: 'no_bid', count: 1, share: 0.25 },
      {
        code: 1024,
        reason: 'rate_limited',
        sentence: expect.any(String),
        outcome: 'rate_limited',
        count: 1,
        share: 0.25,
      },
      { code: 1500, reason: 'internal', sentence: expect.any(String), outcome: 'error', count: 1, share: 0.25 },
    ])
  })

  it('sums up each bidder', async () => {
    expect((await sum()).targets).toEqual([
      {
        target: bidder1,
        buyer: { id: pingWorld.buyerId, name: 'Solar Co' },
        pings: 6,
        bids: 5,
        wins: 5,
        declined: 1,
        timeouts: 0,
        errors: 0,
        bidRate: 0.8333,
        winRate: 1,
        timeoutRate: 0,
        p50LatencyMs: 20,
        p95LatencyMs: 20,
        avgBidCents: 2_500,
      },
      {
        target: bidder2,
        buyer: { id: pingWorld.buyerId, name: 'Solar Co' },
        pings: 6,
        bids: 5,
        wins: 0,
        declined: 0,
        timeouts: 1,
        errors: 0,
        bidRate: 0.8333,
        winRate: 0,
        timeoutRate: 0.1667,
        p50LatencyMs: 40,
        p95LatencyMs: 40,
        avgBidCents: 2_000,
      },
    ])
  })

  it('sums up each publisher: a ghost is an offer that ended without a call, and was not voided', async () => {
    const publisher = { id: pingWorld.publisherId, name: 'Blue Leads' }
    const figures = { publisher, pings: 10, won: 6, calls: 1, winRate: 0.6, pingToCallRate: 0.1, wonToCallRate: 0.1667 }
    expect((await sum()).publishers).toEqual([{ ...figures, ghostBids: 2 }])
    const later = { from: '2026-03-04T05:00:00.000Z' }
    expect((await sum(later, instantAfter(50.019))).publishers).toEqual([{ ...figures, ghostBids: 2 }])
    expect((await sum(later, instantAfter(50.02))).publishers).toEqual([{ ...figures, ghostBids: 3 }])
  })

  it('of nothing has no rates and no latencies', async () => {
    const query = { campaignId: idOf(1) }
    expect(await sum(query)).toMatchObject({
      inbound: { pings: 0, won: 0, winRate: null, p50ElapsedMs: null, p95ElapsedMs: null, payoutOfferedCents: 0 },
      noBidReasons: [],
      targets: [],
      publishers: [],
    })
  })

  test.each([
    [{ campaignId: pingWorld.campaignId }, 10, 2],
    [{ publisherId: pingWorld.publisherId }, 10, 2],
    [{ publisherId: idOf(1) }, 0, 0],
    [{ targetId: bidder2.id }, 6, 1],
    [{ from: instantAfter(-450), to: instantAfter(-390) }, 1, 0],
    [{ direction: 'outbound' }, 10, 2],
  ])('filters by %j', async (query, pings, targets) => {
    const answer = await sum(query)
    expect([answer.inbound.pings, answer.targets.length]).toEqual([pings, targets])
  })

  it.each([
    [{ from: '2026-03-05', to: '2026-03-04' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ from: instantAfter(-92 * 86_400 - 1) }, 'from'],
  ])('refuses %j, naming the field', async (query, field) => {
    expect(await sum(query)).toMatchObject({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it.each([{ direction: 'both' }, { campaignId: 'x' }, { publisherId: 'x' }, { targetId: 'x' }])(
    'does not take %j for a filter',
    (query) => expect(pingSummary.query.safeParse(query).success).toBe(false),
  )

  it('comes from columns alone, that of one target too', async () => {
    const unsummed: ReadStore = { ...store, sum: () => Promise.reject(new Error('The store was asked.')) }
    const now = Date.parse(NOW)
    const kept = withColumns(unsummed, columnParts(columns))
    // As `withExpiredHidden` asks.
    const views: ReadStore = {
      ...kept,
      sum: (collection, filter, groupBy, fields) => kept.sum(collection, filter, groupBy, fields, now),
    }
    expect(await sum({}, NOW, views)).toEqual(await sum())
    const one = { targetId: bidder2.id }
    expect(await sum(one, NOW, views)).toEqual(await sum(one))
  })
})

test.each([
  [[], 0.5, null],
  [[[7, 1]], 0.95, 7],
  [
    [
      [30, 1],
      [10, 1],
      [20, 1],
      [40, 1],
    ],
    0.5,
    20,
  ],
  [
    [
      [10, 19],
      [90, 1],
    ],
    0.95,
    10,
  ],
  [
    [
      [10, 18],
      [90, 2],
    ],
    0.95,
    90,
  ],
])('of the values %j with their counts, a share of %d does not exceed %j', (pairs, share, expected) => {
  const counts = pairs.map(([value = 0, count = 0]) => ({ value, count }))
  expect(percentile(counts, share)).toBe(expected)
})
