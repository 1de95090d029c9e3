import { bidsField } from '../routing/bids.ts'
import type { WonOffer } from '../routing/won-offer.ts'
import { type AuctionState, madeOffer } from './auction.ts'

/**
 * The offer of an auction, as the call that claims it needs it. Null where the auction made none or was a test, or it is over. A posted offer
 * has the tags of the post, too.
 */
export function wonOfferOf(state: AuctionState | null, attribution: WonOffer['attribution']): WonOffer | null {
  if (!state?.held || state.claimedBy !== null || state.expired || state.voided) return null
  const { offer, terms, plan, ping, ref, bids } = state.held
  // A test reserves nothing: its call is a call like any other.
  if (!offer || !terms || !madeOffer(state.held)) return null
  const { auctionId, target, bidId, clearingPriceCents, payoutCents, durationThresholdSeconds, madeAt } = offer
  return {
    auctionId,
    ref,
    attribution,
    campaign: ping.campaign,
    publisher: ping.publisher,
    target,
    bidId,
    clearingPriceCents,
    payoutCents,
    durationThresholdSeconds,
    madeAt,
    expiresAt: offer.expiresAt,
    terms,
    plan,
    ...bidsField(bids ?? []),
    callerState: ping.callerState,
    callerZip: ping.callerZip,
    callerCity: ping.callerCity,
    publisherRef: ping.publisherRef,
    externalCallId: ping.externalCallId,
    tags: { ...ping.tags, ...state.posted?.tags },
  }
}
