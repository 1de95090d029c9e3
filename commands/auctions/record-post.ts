import { auction, auctionEvents } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records on the auction that its offer was posted. Idempotent by auction. */
export const recordPost = defineCommand({
  name: 'record-post',
  entity: auction,
  input: auctionEvents.OfferPosted,
  id: ({ auctionId }) => auctionId,
  decide: (post, state) => (state?.held && !state.posted ? [{ type: 'OfferPosted', data: post }] : []),
})
