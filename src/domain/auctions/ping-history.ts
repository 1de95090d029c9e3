import type { z } from 'zod'
import type { AuctionHeld, auctionEvents, Offer } from './auction.ts'

type DataOf<Type extends keyof typeof auctionEvents> = Readonly<z.infer<(typeof auctionEvents)[Type]>>

/** An auction without what only its decision needs. */
export type ShownAuction = Omit<AuctionHeld, 'inputs'>

/** All that happened at a ping: it was judged, or refused before that. */
export interface PingHistory {
  readonly held: ShownAuction | null
  readonly refused: DataOf<'PingRefused'> | null
  readonly posted: DataOf<'OfferPosted'> | null
  /** Oldest first. */
  readonly refusedPosts: readonly DataOf<'PostRefused'>[]
  readonly claimed: DataOf<'OfferClaimed'> | null
  readonly expired: DataOf<'OfferExpired'> | null
  readonly voided: DataOf<'BidVoided'> | null
  readonly confirmed: DataOf<'WinConfirmed'> | null
}

/** The offer that an auction made itself: that of a repeated ping is an earlier one's. */
export function ownOffer({ held }: Pick<PingHistory, 'held'>): Offer | null {
  return held?.offer && held.offer.auctionId === held.ping.auctionId ? held.offer : null
}

/** When the offer of an auction ended without a call; null while it may get one, and where it has none of its own. */
export function expiredAt(history: PingHistory, now: string): string | null {
  const { claimed, voided, expired } = history
  const offer = ownOffer(history)
  if (offer === null || claimed || voided) return null
  const end = expired?.occurredAt ?? offer.expiresAt
  return end <= now ? end : null
}
