import { auction, auctionEvents } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records on the auction why a post was refused. */
export const refusePost = defineCommand({
  name: 'refuse-post',
  entity: auction,
  input: auctionEvents.PostRefused,
  id: ({ auctionId }) => auctionId,
  decide: (refused, state) => (state?.held ? [{ type: 'PostRefused', data: refused }] : []),
})
