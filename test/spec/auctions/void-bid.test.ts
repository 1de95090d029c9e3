import { describe, expect, it, test } from 'vitest'
import { voidBid } from '../../../commands/auctions/void-bid.ts'
import { auctionsAudit } from '../../../src/domain/activity/audit-auctions.ts'
import { auction } from '../../../src/domain/auctions/auction.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { instantAfter, nthCallId } from '../../support/fixtures/call-world.ts'
import { auctionId, bidder1, bidId, pings } from '../../support/fixtures/logged-pings.ts'
import { given, idOf, NOW, recordedEvents } from '../../support/fixtures/spec.ts'

const held: NewEvent = { type: 'AuctionHeld', data: pings.live }
const key = { auctionId: auctionId(11), occurredAt: instantAfter(-5) }
const claimed: NewEvent = {
  type: 'OfferClaimed',
  data: { ...key, callId: nthCallId(1), callRef: 'CA-0000000001', bidId: bidId(11, 1) },
}
const posted: NewEvent = {
  type: 'OfferPosted',
  data: {
    ...key,
    postedBy: auctionId(11),
    caller: '+14155550199',
    number: { id: idOf(1), e164: '+14155550123' },
    tags: {},
    expiresAt: instantAfter(50.02),
  },
}
const input = { auctionId: auctionId(11), bidId: bidId(11, 1), note: 'Sent twice' }
const after = (events: readonly NewEvent[], sent: object = input, at = NOW) =>
  given(auction, events).when(voidBid, sent, { at })

describe('a person voids a bid', () => {
  it('that won, with a note', () => {
    after([held]).gives([{ type: 'BidVoided', data: { ...input, occurredAt: NOW, target: bidder1 } }])
  })

  it('that was posted, without a note', () => {
    after([held, posted], { ...input, note: undefined }).gives([{ type: 'BidVoided', data: { note: null } }])
  })

  it('once', () => {
    const { events } = after([held])
    given(auction, events).when(voidBid, input).gives([])
  })

  test.each([
    ['claimed', [held, claimed], input, NOW],
    ['expired', [held], input, instantAfter(51)],
    ['expired', [held, posted, { type: 'OfferExpired', data: key }], input, NOW],
    ['lost', [held], { ...input, bidId: bidId(11, 2) }, NOW],
    [
      'timeout',
      [{ type: 'AuctionHeld', data: pings.noBids }],
      { ...input, auctionId: auctionId(2), bidId: bidId(2, 2) },
      NOW,
    ],
  ])('but not one that is %s', (status, events, sent, at) => {
    after(events, sent, at).gives({ refused: 'conflict', details: { status } })
  })

  test.each([
    ['no ping', [], input],
    ['another bid', [held], { ...input, bidId: idOf(9) }],
  ])('and finds none: %s', (_, events, sent) => {
    after(events, sent).gives({ refused: 'ping-not-found' })
  })

  it('which the activity log shows', () => {
    const [event] = recordedEvents(auction, after([held]).events.slice(1))
    expect(event && auctionsAudit.BidVoided(Object(event))).toEqual({
      kind: 'ping',
      action: 'voided',
      severity: 'medium',
      entity: { kind: 'ping', id: bidId(11, 1), name: 'Bidder 1' },
      summary: 'Bid of Bidder 1 was voided: Sent twice',
      changes: [
        { field: 'status', before: 'won', after: 'void' },
        { field: 'note', before: null, after: 'Sent twice' },
      ],
    })
  })
})
