import { describe, expect, it, test } from 'vitest'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { askedText, isAsked } from '../../../src/domain/auctions/asked-targets.ts'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { PING_RETENTION_MS } from '../../../src/domain/shared/limits.ts'
import { heldIn } from '../../support/fixtures/auctions.ts'
import { callWorld, changeSteps, instantAfter, nthCallId } from '../../support/fixtures/call-world.ts'
import { auctionId, bidder1, bidder2, bidId, loggedPings, pingWorld } from '../../support/fixtures/logged-pings.ts'
import { project } from '../../support/fixtures/project.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const rows = await project(pingLedger, loggedPings)
const row = (n: number) => rows[auctionId(n)]

describe('a row of the inbound ledger', () => {
  it('is a whole ping, with its auction', () => {
    expect(row(3)).toEqual({
      workspaceId: WORKSPACE,
      seq: 3,
      ref: 'AU-0000000003',
      at: instantAfter(-500),
      atMs: Date.parse(instantAfter(-500)),
      environment: 'production',
      outcome: 'won',
      reason: null,
      reasonCode: null,
      campaign: { id: pingWorld.campaignId, name: 'Solar West' },
      publisher: { id: pingWorld.publisherId, name: 'Blue Leads' },
      callerNumber: '•••0199',
      callerMasked: true,
      callerState: 'CA',
      elapsedMs: 50,
      tmaxMs: 3_000,
      statusCode: 200,
      payoutCents: 1_500,
      clearingPriceCents: 2_500,
      winningTarget: { bidId: bidId(3, 1), ...bidder1 },
      targetsConsidered: 3,
      targetsSolicited: 2,
      bidsReceived: 2,
      asked: askedText([bidder2.id, bidder1.id]),
      offerId: auctionId(3),
      offerState: 'claimed',
      expiresMs: Date.parse(instantAfter(-500 + 60.02)),
      callId: nthCallId(1),
      claimedCount: 1,
    })
  })

  test.each([
    ['won', 1, { outcome: 'won', reason: null, offerState: 'open', callId: null }],
    [
      'no_bid',
      2,
      {
        outcome: 'no_bid',
        reason: { code: 1011, reason: 'no_bids', sentence: 'No buyer gave a price.' },
        reasonCode: 1011,
        statusCode: 200,
        payoutCents: null,
        clearingPriceCents: null,
        winningTarget: null,
        targetsSolicited: 2,
        bidsReceived: 0,
        offerState: 'none',
        expiresMs: null,
      },
    ],
    [
      'cached',
      4,
      {
        outcome: 'cached',
        reason: null,
        payoutCents: 1_500,
        winningTarget: { bidId: bidId(3, 1) },
        targetsSolicited: 0,
        offerId: auctionId(3),
        offerState: 'repeated',
        callId: null,
        claimedCount: 0,
      },
    ],
    ['blocked', 5, { outcome: 'blocked', reasonCode: 1004, statusCode: 200 }],
    [
      'rate_limited',
      6,
      {
        outcome: 'rate_limited',
        reasonCode: 1024,
        statusCode: 429,
        tmaxMs: null,
        callerNumber: null,
        callerMasked: false,
        targetsConsidered: 0,
      },
    ],
    ['error', 7, { outcome: 'error', reasonCode: 1500, statusCode: 400 }],
  ])('has the outcome %s', (_, n, expected) => {
    expect(row(n)).toMatchObject(expected)
  })

  it('names its environment', () => {
    expect([row(8)?.environment, row(1)?.environment]).toEqual(['test', 'production'])
  })

  it('shows no number of a hidden caller, and masks none', () => {
    expect(row(9)).toMatchObject({ callerNumber: null, callerMasked: false })
  })

  it('shows the caller in full where the campaign discloses its callers', async () => {
    const held = heldIn(callWorld(changeSteps.campaign({ discloseCallerId: true })))
    const disclosed = await project(pingLedger, recordedEvents(auction, [{ type: 'AuctionHeld', data: held }]))
    expect(disclosed[held.ping.auctionId]).toMatchObject({ callerNumber: '+14155550199', callerMasked: false })
  })

  it('of a target with a fixed price names no bid', async () => {
    const held = heldIn(callWorld())
    const fixed = await project(pingLedger, recordedEvents(auction, [{ type: 'AuctionHeld', data: held }]))
    expect(fixed[held.ping.auctionId]).toMatchObject({
      winningTarget: { bidId: null, name: 'Front desk' },
      targetsSolicited: 0,
      bidsReceived: 0,
      asked: held.offer?.target.id.slice(-12),
    })
  })

  it('ends its offer where a bid is voided', () => {
    expect(row(10)).toMatchObject({ outcome: 'won', offerState: 'void', callId: null })
  })

  it('goes 30 days after the ping', () => {
    const { atMs } = { atMs: Date.parse(NOW) }
    const doc = pingLedger.doc.parse({ ...row(3), atMs })
    expect(pingLedger.expiresAt?.(doc)).toBe(atMs + PING_RETENTION_MS)
    expect(PING_RETENTION_MS).toBe(30 * 24 * 3_600_000)
  })
})

describe('the targets of an auction as one text', () => {
  it('is the same in any order, and null for none', () => {
    expect(askedText([bidder1.id, bidder2.id, bidder1.id])).toBe(askedText([bidder2.id, bidder1.id]))
    expect(askedText([])).toBeNull()
  })

  it('has each target, and no other', () => {
    const text = askedText([bidder1.id])
    expect([isAsked(text, bidder1.id), isAsked(text, bidder2.id), isAsked(null, bidder1.id)]).toEqual([
      true,
      false,
      false,
    ])
  })
})
