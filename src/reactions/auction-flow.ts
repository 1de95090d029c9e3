import { claimOffer } from '../../commands/auctions/claim-offer.ts'
import { countBids } from '../../commands/auctions/count-bids.ts'
import { expireOffer } from '../../commands/auctions/expire-offer.ts'
import { recordPost } from '../../commands/auctions/record-post.ts'
import { releaseReservation } from '../../commands/auctions/release-reservation.ts'
import { auction } from '../domain/auctions/auction.ts'
import { callEvents } from '../domain/calls/call.ts'
import { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { defineReaction } from '../kernel/reaction.ts'
import { offerSteps } from './restore-offers.ts'
import type { FlowTools } from './tools.ts'

const { OfferReserved, ReservationReleased } = ledgerEvents
const { CallArrived } = callEvents

/**
 * The next step after each event of an auction: its claims in the operational store, the health of its bidders, and what the ledger
 * and the calls say of its offer. Every step has a natural key, so repeating it changes nothing.
 */
export const auctionFlow = defineReaction({
  name: 'auction-flow',
  events: { ...auction.events, OfferReserved, ReservationReleased, CallArrived },
  // From the start: claims that the operational store has lost are made anew, as far as their offers live.
  from: 'start',
  doneBy: { OfferReserved: ['OfferPosted'] },
  on: {
    AuctionHeld: async ({ run, offers }: FlowTools, event) => {
      const { ping, bids = [] } = event.data
      await offerSteps.AuctionHeld(offers, event)
      // A test counts nothing.
      if (bids.length === 0 || ping.environment === 'test') return
      await run(countBids, { auctionId: ping.auctionId, occurredAt: ping.occurredAt, bids }, event)
    },
    OfferReserved: ({ run }, event) => {
      const { auctionId, occurredAt, postedBy, caller, number, tags, expiresAt } = event.data
      return run(recordPost, { auctionId, occurredAt, postedBy, caller, number, tags, expiresAt }, event)
    },
    OfferPosted: ({ offers }, event) => offerSteps.OfferPosted(offers, event),
    CallArrived: async ({ run }, event) => {
      const { callId, ref: callRef, occurredAt, auction } = event.data.arrival
      if (auction) await run(claimOffer, { auctionId: auction.id, callId, callRef, occurredAt }, event)
    },
    ReservationReleased: async ({ run }, event) => {
      const { auctionId, occurredAt, reason } = event.data
      if (reason === 'expired') await run(expireOffer, { auctionId, occurredAt }, event)
    },
    OfferClaimed: ({ offers }, event) => offerSteps.OfferClaimed(offers, event),
    OfferExpired: ({ offers }, event) => offerSteps.OfferExpired(offers, event),
    BidVoided: async ({ run, offers }, event) => {
      const { auctionId, occurredAt } = event.data
      await offerSteps.BidVoided(offers, event)
      return run(releaseReservation, { auctionId, reason: 'void', occurredAt }, event)
    },
  },
})
