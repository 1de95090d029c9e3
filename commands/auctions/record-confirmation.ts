import { auction, auctionEvents } from '../../src/domain/auctions/auction.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records the tries to tell a bidder that it has won. Idempotent by auction. */
export const recordConfirmation = defineCommand({
  name: 'record-confirmation',
  entity: auction,
  input: auctionEvents.WinConfirmed,
  id: ({ auctionId }) => auctionId,
  decide: (confirmation, state) =>
    state?.held && !state.confirmed ? [{ type: 'WinConfirmed', data: confirmation }] : [],
})
