import { describe, expect, it, test } from 'vitest'
import { claimOffer } from '../../../commands/auctions/claim-offer.ts'
import { countBids } from '../../../commands/auctions/count-bids.ts'
import { expireOffer } from '../../../commands/auctions/expire-offer.ts'
import { recordPost } from '../../../commands/auctions/record-post.ts'
import { releaseReservation } from '../../../commands/auctions/release-reservation.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { FOLD_MEMORY } from '../../../src/domain/shared/limits.ts'
import { AUCTION, heldIn, laneNumber, postIn } from '../../support/fixtures/auctions.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import {
  anotherTarget,
  bidderSteps,
  CALLER,
  callWorld,
  changed,
  changeSteps,
  instantAfter,
} from '../../support/fixtures/call-world.ts'
import { given, idOf, NOW, stateOf } from '../../support/fixtures/spec.ts'

const plain = callWorld()
const held = heldIn(plain)
const other = { offer: { ...held.offer, auctionId: idOf(0xb0) }, postedBy: idOf(0xb0), caller: '+14155550198' }

describe('an accepted post', () => {
  it('holds a slot of every cap of campaign, lane, target and buyer, once', () => {
    const posted = postIn(plain, held)
    posted.gives([{ type: 'OfferReserved', data: { auctionId: AUCTION, caller: CALLER, expiresAt: instantAfter(60) } }])
    const { state } = posted
    for (const [kind, id] of [
      ['campaign', plain.campaignId],
      ['lane', `${plain.campaignId}:${plain.publisherId}`],
      ['target', plain.targetId()],
      ['buyer', plain.buyerId],
    ] as const) {
      const { live, taken, total } = counterOf(state, kind, id)
      expect([kind, live, taken.get(NOW.slice(0, 10), 0), total]).toEqual([kind, 1, 1, 1])
    }
    expect(postIn(plain, held, {}, posted.events).outcome).toEqual([])
  })

  test.each([
    ['target', changeSteps.target({ concurrencyCap: 1 })],
    ['target', changeSteps.target({ dailyCap: 1, capCountsOn: 'connected' })],
    ['buyer', changeSteps.buyer({ concurrencyCap: 1 })],
    ['campaign', changeSteps.campaign({ dailyCap: 1 })],
    ['lane', changeSteps.lane({ concurrencyCap: 1 })],
  ] as const)('takes the last slot of the %s from the next', (_owner, step) => {
    const world = callWorld(step)
    const posted = postIn(world, heldIn(world))
    expect(posted.outcome).toHaveLength(1)
    postIn(world, heldIn(world), other, posted.events).gives({
      refused: 'post-refused',
      details: { reason: 'capped' },
    })
  })

  it('is judged again: its target may be paused since, and its campaign', () => {
    const paused = changed(plain, changeSteps.targetStatus('paused'))
    postIn(paused, held).gives({ refused: 'post-refused', details: { reason: 'no_targets' } })
    const stopped = changed(plain, [setCampaignStatus, () => ({ campaignId: plain.campaignId, status: 'paused' })])
    postIn(stopped, held).gives({ refused: 'post-refused', details: { reason: 'campaign_not_live' } })
  })

  it('comes too late once the offer has expired', () => {
    expect(postIn(plain, held, { occurredAt: instantAfter(59) }).outcome).toHaveLength(1)
    postIn(plain, held, { occurredAt: instantAfter(60) }).gives({ refused: 'bid-expired' })
  })
})

describe('a reservation', () => {
  const release = { auctionId: AUCTION, reason: 'expired', occurredAt: instantAfter(60) }
  const posted = postIn(plain, held).events

  it('ends by itself, gives its slots back, and cannot be taken again', () => {
    const ended = given(ledger, posted).when(releaseReservation, release)
    ended.gives([{ type: 'ReservationReleased', data: { auctionId: AUCTION, reason: 'expired', reservedAt: NOW } }])
    const { live, taken, total } = counterOf(ended.state, 'target', plain.targetId())
    expect([live, taken.get(NOW.slice(0, 10), 0), total]).toEqual([0, 0, 0])
    expect(given(ledger, ended.events).when(releaseReservation, release).outcome).toEqual([])
    postIn(plain, held, {}, ended.events).gives({ refused: 'bid-expired' })
  })

  it('takes nothing from counters that were reset meanwhile', () => {
    const reset = given(ledger, posted).when(
      resetTargetCaps,
      { targetId: plain.targetId() },
      { reads: { workspace: plain.reads.workspace } },
    )
    const ended = given(ledger, reset.events).when(releaseReservation, release)
    const { live, taken, total } = counterOf(ended.state, 'target', plain.targetId())
    expect([live, taken.get(NOW.slice(0, 10), 0), total]).toEqual([0, 0, 0])
  })
})

describe('the auction of a post', () => {
  const begun = [{ type: 'AuctionHeld', data: held }]
  const post = {
    auctionId: AUCTION,
    occurredAt: NOW,
    postedBy: AUCTION,
    caller: CALLER,
    number: laneNumber(plain),
    tags: {},
    expiresAt: instantAfter(60),
  }
  const claim = { auctionId: AUCTION, callId: idOf(0xc1), callRef: 'CA-0000000001', occurredAt: instantAfter(9) }
  const expiry = { auctionId: AUCTION, occurredAt: instantAfter(60) }

  it('is posted once, and ends in a claim', () => {
    const posted = given(auction, begun).when(recordPost, post)
    posted.gives([{ type: 'OfferPosted' }])
    expect(given(auction, posted.events).when(recordPost, post).outcome).toEqual([])
    const claimed = given(auction, posted.events).when(claimOffer, claim)
    claimed.gives([{ type: 'OfferClaimed', data: { callId: idOf(0xc1), bidId: null } }])
    expect(given(auction, claimed.events).when(claimOffer, { ...claim, callId: idOf(0xc2) }).outcome).toEqual([])
    expect(given(auction, claimed.events).when(expireOffer, expiry).outcome).toEqual([])
  })

  it('or in an expiry', () => {
    const posted = given(auction, begun).when(recordPost, post)
    given(auction, posted.events)
      .when(expireOffer, expiry)
      .gives([{ type: 'OfferExpired' }])
    expect(given(auction, []).when(expireOffer, expiry).outcome).toEqual([])
  })

  it('or in an expiry that overtakes the record of its post', () => {
    const expired = given(auction, begun).when(expireOffer, expiry)
    expired.gives([{ type: 'OfferExpired' }])
    given(auction, expired.events)
      .when(recordPost, post)
      .gives([{ type: 'OfferPosted' }])
  })
})

describe('requests to bidders of an auction', () => {
  const world = callWorld(...bidderSteps(1), ...anotherTarget(2))
  const target = { id: world.targetId(1), name: 'Bidder 1' }
  const failed = bidFrom(target, { ok: false, failure: 'timeout', sentence: '' })
  const given5 = (bids: readonly unknown[]) => ({ auctionId: AUCTION, occurredAt: NOW, bids })

  it('count for the health of their targets, once, and only where they change it', () => {
    expect(given(ledger).when(countBids, given5([bidFrom(target, {})])).outcome).toEqual([])
    const counted = given(ledger).when(countBids, given5([failed]))
    counted.gives([{ type: 'BidsCounted' }])
    expect(counted.state.health.get(target.id)).toMatchObject({ consecutiveFailures: 1, health: 'degraded' })
    expect(given(ledger, counted.events).when(countBids, given5([failed])).outcome).toEqual([])
    const answered = given(ledger, counted.events).when(countBids, {
      ...given5([bidFrom(target, {})]),
      auctionId: idOf(9),
    })
    answered.gives([{ type: 'BidsCounted' }])
    expect(answered.state.health.has(target.id)).toBe(false)
  })

  it('no longer count when the ledger may have forgotten them', () => {
    const at = instantAfter(FOLD_MEMORY.ms / 1_000 + 1)
    expect(given(ledger).when(countBids, given5([failed]), { at }).outcome).toEqual([])
    expect(stateOf(ledger, []).countedAuctions).toBeDefined()
  })
})
