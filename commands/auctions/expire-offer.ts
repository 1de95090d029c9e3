import { auction, auctionEvents } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/**
 * Records on the auction that no call came for its post. The expiry may overtake the record of the post: after a crash, or on another
 * clock. Idempotent by auction.
 */
export const expireOffer = defineCommand({
  name: 'expire-offer',
  entity: auction,
  input: auctionEvents.OfferExpired,
  id: ({ auctionId }) => auctionId,
  decide(expiry, state) {
    if (!state?.held || state.claimedBy !== null || state.expired || state.voided) return []
    return [{ type: 'OfferExpired', data: expiry }]
  },
})
