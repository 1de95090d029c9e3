import { auction, auctionEvents } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records a ping that was refused before it was judged: over its key's rate, or unreadable. Idempotent by auction. */
export const refusePing = defineCommand({
  name: 'refuse-ping',
  entity: auction,
  input: auctionEvents.PingRefused,
  id: ({ auctionId }) => auctionId,
  begins: true,
  decide: (refused, state) => (state ? [] : [{ type: 'PingRefused', data: refused }]),
})
