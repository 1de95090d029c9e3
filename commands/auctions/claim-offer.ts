import { z } from 'zod'
import { auction } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/**
 * Records on the auction that the call of its offer arrived. Idempotent by auction. No call is routed under an offer whose bid was voided;
 * one that was routed before the void has claimed the offer, and is paid by it.
 */
export const claimOffer = defineCommand({
  name: 'claim-offer',
  entity: auction,
  input: z.object({ auctionId: id, callId: id, callRef: z.string(), occurredAt: instant }),
  id: ({ auctionId }) => auctionId,
  decide(claim, state) {
    if (!state?.held?.offer || state.claimedBy !== null) return []
    return [{ type: 'OfferClaimed', data: { ...claim, bidId: state.held.offer.bidId } }]
  },
})
