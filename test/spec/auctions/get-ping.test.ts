import { beforeAll, describe, expect, it, test } from 'vitest'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { pingStory } from '../../../projections/auctions/ping-story.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { buyers } from '../../../projections/demand/buyers.ts'
import { targets } from '../../../projections/demand/targets.ts'
import { getPing } from '../../../queries/auctions/get-ping.ts'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { AUCTION, heldIn } from '../../support/fixtures/auctions.ts'
import {
  anotherTarget,
  callWorld,
  changeSteps,
  DIALED,
  instantAfter,
  nthCallId,
} from '../../support/fixtures/call-world.ts'
import { auctionId, bidder1, bidder2, bidId, loggedPings, pingWorld } from '../../support/fixtures/logged-pings.ts'
import { playCalls } from '../../support/fixtures/play-call.ts'
import { fillStore, runQuery } from '../../support/fixtures/query-fixture.ts'
import { idOf, NOW, recordedEvents } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const READS = [pingLedger, pingStory, bidLedger, targets, buyers, callLog]

async function storeOf(pings: readonly RecordedEvent[], world = pingWorld) {
  const store = createMemoryReadStore()
  const configured = recordedEvents(workspace, world.events, { from: 1_000 })
  const calls = recordedEvents(call, playCalls(callWorld(), {}).calls, { from: 2_000 })
  await fillStore(store, READS, [...pings, ...configured, ...calls])
  return store
}

let store = createMemoryReadStore()
beforeAll(async () => {
  store = await storeOf(loggedPings)
})
const read = (id: string, query: object = {}, now = NOW) => runQuery<Json>(getPing, store, { id, query, now })

describe('the detail of a ping', () => {
  it('is the row with all further fields, its caller masked and credentials hidden', async () => {
    const { ping } = await read(auctionId(3))
    expect(ping).toMatchObject({
      id: auctionId(3),
      direction: 'inbound',
      ref: 'AU-0000000003',
      outcome: 'won',
      callerNumber: '•••0199',
      callerMasked: true,
      callerZip: '94107',
      callerCity: 'San Francisco',
      publisherRef: 'sub-1',
      externalCallId: 'ext-1',
      sipOk: true,
      tags: { source: 'web', note: 'call •••0199' },
      sourceIp: '203.0.113.7',
      userAgent: 'Ads/1.0',
      requestId: 'req_3',
      requestBody: '{"callerNumber":"•••0199","key":"rk_•••"}',
    })
    expect(JSON.parse(ping.responseBody)).toEqual({
      auctionId: auctionId(3),
      ref: 'AU-0000000003',
      outcome: 'won',
      payoutCents: 1_500,
      durationThresholdSeconds: expect.any(Number),
      expiresAt: instantAfter(-500 + 60.02),
      expiresInSeconds: 59,
      cached: false,
    })
  })

  it('shows the caller nowhere', async () => {
    for (const n of [2, 3, 4, 5]) {
      expect(JSON.stringify(await read(auctionId(n)))).not.toMatch(/415\D{0,3}555\D{0,3}0199/)
    }
  })

  it('shows the caller in full where the campaign discloses its callers', async () => {
    const world = callWorld(changeSteps.campaign({ discloseCallerId: true }))
    const held = {
      ...heldIn(world),
      request: { requestId: 'r', sourceIp: null, userAgent: null, body: '+14155550199' },
    }
    const shown = await storeOf(recordedEvents(auction, [{ type: 'AuctionHeld', data: held }]), world)
    expect(await runQuery<Json>(getPing, shown, { id: AUCTION })).toMatchObject({
      ping: { callerNumber: '+14155550199', callerMasked: false, requestBody: '+14155550199' },
    })
  })

  it('has the answer in the shape of the single step', async () => {
    const { ping } = await read(auctionId(9))
    expect(JSON.parse(ping.responseBody)).toMatchObject({ bidId: auctionId(9), bidAmount: 15, phoneNumber: DIALED })
  })

  it('of a refused request has no answer, trace of two steps and no bids', async () => {
    const { ping, trace, bids, call } = await read(auctionId(7))
    expect(ping).toMatchObject({ outcome: 'error', statusCode: 400, responseBody: null, tags: {}, sipOk: null })
    expect(trace.map(({ step, code }: Json) => [step, code])).toEqual([
      ['received', null],
      ['refused', 'internal'],
      ['answered', '400'],
    ])
    expect([bids, call]).toEqual([[], null])
  })

  test.each([
    ['its id', auctionId(3)],
    ['its id in capitals', auctionId(3).toUpperCase()],
    ['its reference', 'AU-0000000003'],
    ['its reference in small letters', 'au-0000000003'],
  ])('is found by %s', async (_, id) => {
    expect((await read(id)).ping.id).toBe(auctionId(3))
  })

  test.each([
    ['a bad id', 'nothing', {}],
    ['an unknown id', idOf(1), {}],
    ['an unknown reference', 'AU-0000000999', {}],
    ['a bid id', bidId(3, 1), {}],
    ['an auction id as a bid', auctionId(3), { direction: 'outbound' }],
    ['a reference as a bid', 'AU-0000000003', { direction: 'outbound' }],
  ])('is not found by %s', async (_, id, query) => {
    expect(await read(id, query)).toMatchObject({ refused: 'ping-not-found' })
  })

  it('is not found from another workspace', async () => {
    const stranger = { workspaceId: idOf(77) }
    for (const [id, query] of [
      [auctionId(3), {}],
      ['AU-0000000003', {}],
      [bidId(3, 1), { direction: 'outbound' }],
    ] as const)
      expect(await runQuery<Json>(getPing, store, { id, query, ...stranger })).toMatchObject({
        refused: 'ping-not-found',
      })
  })

  it('takes no other direction, nor an id of more than 60 characters', () => {
    expect(getPing.query.safeParse({ direction: 'both' }).success).toBe(false)
    expect(getPing.params.safeParse({ id: 'x'.repeat(61) }).success).toBe(false)
    expect(getPing.params.safeParse({ id: 'x'.repeat(60) }).success).toBe(true)
  })

  it('has the call of its offer, of a repeated ping that of the first', async () => {
    const shown = {
      id: nthCallId(1),
      ref: 'CA-0000000001',
      status: 'completed',
      startedAt: NOW,
      answeredAt: instantAfter(3),
      talkSeconds: 60,
      converted: true,
    }
    expect((await read(auctionId(3))).call).toEqual(shown)
    expect((await read(auctionId(4))).call).toEqual(shown)
    expect((await read(auctionId(1))).call).toBeNull()
  })

  it('of a bid is its row, with its call, and neither trace nor bids', async () => {
    expect(await read(bidId(3, 1), { direction: 'outbound' })).toMatchObject({
      ping: { id: bidId(3, 1), direction: 'outbound', status: 'claimed', auction: { id: auctionId(3) } },
      trace: [],
      bids: [],
      call: { id: nthCallId(1) },
    })
  })
})

describe('the trace of a ping', () => {
  const stepsOf = async (n: number, now?: string) =>
    (await read(auctionId(n), {}, now)).trace.map(({ step, ms, code }: Json) => [step, ms, code])

  it('has every step from its arrival to its call, in their order', async () => {
    const { trace } = await read(auctionId(3))
    expect(trace.map(({ step, ms, targetId, code }: Json) => [step, ms, targetId, code])).toEqual([
      ['received', 0, null, null],
      ['gates', 0, null, null],
      ['bid', 0, bidder1.id, 'bid'],
      ['bid', 0, bidder2.id, 'bid'],
      ['skipped', 50, pingWorld.targetId(0), 'paused'],
      ['won', 50, bidder1.id, null],
      ['answered', 50, null, '200'],
      ['confirm', 1_000, bidder1.id, '200'],
      ['post_refused', 4_000, null, 'capped'],
      ['posted', 5_000, null, null],
      ['claimed', 20_000, null, null],
    ])
    const sentences = Object.fromEntries(trace.map(({ step, sentence }: Json) => [step, sentence]))
    expect(sentences).toMatchObject({
      received: 'Publisher Blue Leads sent a ping for campaign Solar West.',
      won: 'Target Bidder 1 won at $25.00; the publisher is offered $15.00.',
      posted: `The call of •••0199 was posted: it may come to ${DIALED}.`,
      claimed: 'Call CA-0000000001 claimed the offer.',
    })
  })

  it('ends with the refusal and its reason', async () => {
    expect(await stepsOf(5)).toEqual([
      ['received', 0, null],
      ['refused', 50, 'caller_blocked'],
      ['answered', 50, '200'],
    ])
    expect((await stepsOf(2)).slice(1, 4)).toEqual([
      ['gates', 0, null],
      ['bid', 0, 'rejected'],
      ['bid', 0, 'timeout'],
    ])
    expect((await stepsOf(2)).at(-2)).toEqual(['refused', 100, 'no_bids'])
  })

  it('tells of a repeated offer', async () => {
    expect((await stepsOf(4)).map(([step]: Json) => step)).toEqual(['received', 'gates', 'cached', 'answered'])
  })

  it('tells that an offer was voided, and does not let it expire', async () => {
    expect((await stepsOf(10, instantAfter(600))).at(-1)).toEqual(['void', 10_000, null])
  })

  it('tells that an offer expired once its life is over', async () => {
    expect((await stepsOf(11, instantAfter(50.019))).at(-1)).toEqual(['answered', 50, '200'])
    expect((await stepsOf(11, instantAfter(50.02))).at(-1)).toEqual(['expired', 60_020, null])
  })
})

describe('the bids of a ping', () => {
  const bidsOf = async (n: number, now?: string) => (await read(auctionId(n), {}, now)).bids

  it('are the offers of the targets by rank, the winner first', async () => {
    const [first, second, ...others] = await bidsOf(3)
    expect(first).toEqual({
      id: bidId(3, 1),
      rank: 1,
      status: 'claimed',
      targetKind: 'external_rtb',
      own: true,
      target: bidder1,
      latencyMs: 20,
      buyer: { id: pingWorld.buyerId, name: 'Solar Co' },
      bidCents: 2_500,
      rawBidCents: 2_500,
      payoutCents: 1_500,
      durationThresholdSeconds: null,
      httpStatus: 200,
      rejectCode: null,
      rejectReason: null,
      sentence: 'Target Bidder 1 bid $25.00.',
      callId: nthCallId(1),
    })
    expect(second).toMatchObject({ id: bidId(3, 2), rank: 2, status: 'lost', bidCents: 2_000, callId: null })
    expect(others).toEqual([])
  })

  it('follow what became of the offer', async () => {
    const firstOf = async (n: number, now?: string) => (await bidsOf(n, now))[0].status
    expect(await firstOf(1)).toBe('expired')
    expect(await firstOf(10)).toBe('void')
    expect(await firstOf(11)).toBe('won')
    expect(await firstOf(11, instantAfter(51))).toBe('expired')
  })

  it('without a price have ranks too, and no payout', async () => {
    expect(await bidsOf(2)).toMatchObject([
      { rank: 1, status: 'rejected', bidCents: null, payoutCents: null, rejectReason: 'Caller •••0199 is blocked.' },
      { rank: 2, status: 'timeout', httpStatus: null },
    ])
  })

  it('of targets with a fixed price stand among them without an id', async () => {
    const world = callWorld(
      ...anotherTarget(1, {}, { priority: 200 }),
      changeSteps.lane({ payoutMode: 'revshare', revsharePct: 50 }),
    )
    const held = heldIn(world)
    const fixed = await storeOf(recordedEvents(auction, [{ type: 'AuctionHeld', data: held }]), world)
    const { bids } = await runQuery<Json>(getPing, fixed, { id: AUCTION })
    const price = held.offer?.clearingPriceCents ?? 0
    expect(bids).toMatchObject([
      {
        id: null,
        rank: 1,
        status: 'won',
        targetKind: 'static',
        target: held.offer?.target,
        buyer: { name: 'Solar Co' },
        bidCents: price,
        rawBidCents: null,
        payoutCents: price / 2,
        latencyMs: null,
        httpStatus: null,
        sentence: `Target Front desk has a fixed price of $${(price / 100).toFixed(2)}.`,
      },
      { id: null, rank: 2, status: 'lost', targetKind: 'static' },
    ])
  })

  it('of a repeated ping are those of the first', async () => {
    expect(await bidsOf(4)).toEqual([])
  })
})
