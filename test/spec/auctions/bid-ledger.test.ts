import { describe, expect, it, test } from 'vitest'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { isKey } from '../../../src/runtime/columns/row-buffer.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import { bidderSteps, callWorld, instantAfter, nthCallId, routeArrival } from '../../support/fixtures/call-world.ts'
import {
  auctionId,
  bidder1,
  bidder2,
  bidId,
  heldAs,
  loggedPings,
  offering,
  pingWorld,
} from '../../support/fixtures/logged-pings.ts'
import { project } from '../../support/fixtures/project.ts'
import { idOf, NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const rows = await project(bidLedger, loggedPings)

describe('a row of the outbound ledger', () => {
  it('is a whole request to a bidder of an auction', () => {
    expect(rows[bidId(3, 1)]).toMatchObject({
      workspaceId: WORKSPACE,
      at: instantAfter(-500),
      atMs: Date.parse(instantAfter(-500)),
      environment: 'production',
      origin: 'publisher',
      auction: { id: auctionId(3), ref: 'AU-0000000003' },
      campaign: { id: pingWorld.campaignId, name: 'Solar West' },
      publisher: { id: pingWorld.publisherId, name: 'Blue Leads' },
      target: bidder1,
      buyer: { id: pingWorld.buyerId, name: 'Solar Co' },
      status: 'claimed',
      won: true,
      bidCents: 2_500,
      rawBidCents: 2_500,
      httpStatus: 200,
      latencyMs: 20,
      rejectCode: null,
      rejectReason: null,
      sentence: 'Target Bidder 1 bid $25.00.',
      callId: nthCallId(1),
    })
  })

  test.each([
    ['won', bidId(11, 1), { status: 'won', won: true, callId: null, expiresMs: Date.parse(instantAfter(50.02)) }],
    ['lost', bidId(11, 2), { status: 'lost', won: false, expiresMs: null }],
    ['claimed', bidId(3, 1), { status: 'claimed', won: true, callId: nthCallId(1) }],
    ['rejected', bidId(2, 1), { status: 'rejected', bidCents: null, httpStatus: 200 }],
    ['timeout', bidId(2, 2), { status: 'timeout', bidCents: null, httpStatus: null }],
    ['void', bidId(10, 1), { status: 'void', won: true }],
  ])('has the status %s', (_, id, expected) => {
    expect(rows[id]).toMatchObject(expected)
  })

  test.each([
    ['no_bid', { ok: true, status: 204, body: '' }, 204],
    ['error', { ok: true, status: 500, body: '' }, 500],
  ])('has the status %s of the answer', async (status, answer, httpStatus) => {
    const held = heldAs(1, { ago: 9, answers: [answer, offering(100)] })
    const asked = await project(bidLedger, recordedEvents(auction, [{ type: 'AuctionHeld', data: held }]))
    expect(asked[bidId(1, 1)]).toMatchObject({ status, httpStatus, won: false })
    expect(asked[bidId(1, 2)]).toMatchObject({ status: 'won' })
  })

  it('never repeats the number of its caller', () => {
    const { rejectReason, sentence } = rows[bidId(2, 1)] ?? {}
    expect(rejectReason).toBe('Caller •••0199 is blocked.')
    expect(sentence).toContain('•••0199')
    expect(JSON.stringify(rows)).not.toContain('4155550199')
  })

  it('of a repeated ping does not exist: the bids are those of the first', () => {
    expect(Object.values(rows).filter(({ auction }) => Object(auction).id === auctionId(4))).toEqual([])
  })

  it('names the environment of its ping', () => {
    expect([rows[bidId(8, 1)]?.environment, rows[bidId(1, 1)]?.environment]).toEqual(['test', 'production'])
  })

  it('has a number that no other has', () => {
    const numbers = Object.values(rows).map(({ seq }) => seq)
    expect(numbers.every(isKey)).toBe(true)
    expect(new Set(numbers).size).toBe(numbers.length)
  })
})

describe('a request to a bidder for a call that had arrived', () => {
  const world = callWorld(...bidderSteps(1))
  const target = { id: world.targetId(1), name: 'Bidder 1' }
  const bid = { ...bidFrom(target, offering(9_900)), bidId: idOf(0xb1) }
  const admitted = (bids: readonly unknown[]) => routeArrival(world, { bids }).events
  const rowsOf = (events: readonly NewEvent[]) => project(bidLedger, recordedEvents(ledger, events))
  const call = nthCallId(1)

  it('has the origin call, and the call in the place of an auction', async () => {
    const declined = { ...bidFrom(target, { accept: false, reason: 'full' }), bidId: idOf(0xb1) }
    expect((await rowsOf(admitted([declined])))[idOf(0xb1)]).toMatchObject({
      origin: 'call',
      auction: { id: call, ref: 'CA-0000000001' },
      campaign: { name: 'Solar West' },
      publisher: { name: 'Blue Leads' },
      target,
      status: 'rejected',
      environment: 'production',
      expiresMs: null,
      callId: null,
    })
  })

  it('is claimed where the call goes to its bid, at the arrival or later, and lost otherwise', async () => {
    const [event] = admitted([bid])
    const data = Object(event?.data)
    const at = (claim: object | null): NewEvent => ({ type: 'CallAdmitted', data: { ...data, claim } })
    const dialled = { ...data.claim, bidId: bid.bidId }
    const statusOf = async (events: readonly NewEvent[]) => {
      const { status, won, callId } = (await rowsOf(events))[bid.bidId] ?? {}
      return { status, won, callId }
    }
    const claimed = { status: 'claimed', won: true, callId: call }
    expect(await statusOf([at({ ...data.claim, bidId: undefined })])).toEqual({
      status: 'lost',
      won: false,
      callId: null,
    })
    expect(await statusOf([at(dialled)])).toEqual(claimed)
    const later = { type: 'TargetClaimed', data: { callId: call, occurredAt: NOW, claim: dialled, skipped: [] } }
    expect(await statusOf([at(null), later])).toEqual(claimed)
  })

  test.each(['TargetClaimed', 'PlanSpent', 'BidsUnused'])('is recorded by %s', async (type) => {
    const [event] = admitted([bid])
    const { claim: dialled, unrouted, arrival } = Object(event?.data)
    const claim = { ...dialled, bidId: undefined }
    const asked = { ref: arrival.ref, campaign: arrival.campaign, publisher: arrival.publisher }
    const data = { callId: call, occurredAt: NOW, bids: [bid], asked, claim, unrouted, skipped: [] }
    expect((await rowsOf([{ type, data }]))[bid.bidId]).toMatchObject({
      origin: 'call',
      auction: { id: call, ref: 'CA-0000000001' },
      status: 'lost',
    })
  })

  it('of an auction is claimed by a later dial of the call that was won there', async () => {
    const [event] = admitted([bid])
    const claim = { ...Object(event?.data).claim, bidId: bidId(3, 2) }
    const dialled = { type: 'TargetClaimed', data: { callId: call, occurredAt: NOW, claim, skipped: [] } }
    const [recorded] = recordedEvents(ledger, [dialled], { from: loggedPings.length })
    const all = await project(bidLedger, [...loggedPings, ...(recorded ? [recorded] : [])])
    expect(all[bidId(3, 2)]).toMatchObject({ status: 'claimed', won: true, callId: call, target: bidder2 })
  })
})
