import { auctionEvents } from '../../src/domain/auctions/auction.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerId } from '../shared/timers.ts'

const { AuctionHeld, WinConfirmed } = auctionEvents
const { OfferReserved, ReservationReleased } = ledgerEvents
const events = { AuctionHeld, WinConfirmed, OfferReserved, ReservationReleased }

/** Ends of reservations, and bidders that are to be told that they have won. */
export const auctionJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string | readonly string[]>({
    AuctionHeld: ({ data }) => (data.confirms ? timerId('confirm', data.ping.auctionId) : []),
    WinConfirmed: ({ data }) => timerId('confirm', data.auctionId),
    OfferReserved: ({ data }) => timerId('offer', data.auctionId),
    ReservationReleased: ({ data }) => timerId('offer', data.auctionId),
  }),
  create: {
    AuctionHeld: ({ data: { ping }, meta }) =>
      meta.workspaceId === null
        ? null
        : {
            workspaceId: meta.workspaceId,
            kind: 'confirm',
            dueAt: Date.parse(meta.at),
            subjectId: ping.auctionId,
            amountCents: null,
          },
    OfferReserved: ({ data: { auctionId, expiresAt }, meta }) =>
      meta.workspaceId === null
        ? null
        : {
            workspaceId: meta.workspaceId,
            kind: 'offer',
            dueAt: Date.parse(expiresAt),
            subjectId: auctionId,
            amountCents: null,
          },
  },
  update: {
    WinConfirmed: () => null,
    ReservationReleased: () => null,
  },
})
