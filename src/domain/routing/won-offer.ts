import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { price } from '../money/money.ts'
import { named } from '../shared/fields.ts'
import { bids } from './bids.ts'
import { planned, promise, terms } from './decision.ts'

/** An offer that a publisher won by a ping, as the call that claims it needs it. It is an input of the decision on the call. */
export const wonOffer = z.object({
  /** The auction that made the offer. */
  auctionId: id,
  ref: z.string(),
  attribution: z.enum(['rtb_bid', 'ping_window']),
  campaign: named,
  publisher: named,
  target: named,
  /** The bid that won; null for a target with a fixed price. */
  bidId: id.nullable(),
  clearingPriceCents: price,
  ...promise.shape,
  madeAt: instant,
  expiresAt: instant,
  /** Payout terms of the lane at the ping. */
  terms,
  /** Targets in the order in which the call tries them: the winner first, each with its bid. */
  plan: z.array(planned).readonly(),
  bids,
  callerState: z.string().nullable(),
  callerZip: z.string().nullable(),
  callerCity: z.string().nullable(),
  publisherRef: z.string().nullable(),
  externalCallId: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
})
export type WonOffer = Readonly<z.infer<typeof wonOffer>>

/** Whether an offer is alive at an instant. */
export function isOfferLive({ madeAt, expiresAt }: Pick<WonOffer, 'madeAt' | 'expiresAt'>, at: string): boolean {
  return madeAt <= at && at < expiresAt
}

/** Slots that an accepted post holds until its call arrives or the offer expires. */
export const reservation = z.object({
  auctionId: id,
  /** When the slots were taken: they lie in the windows of this instant. */
  reservedAt: instant,
  campaignId: id,
  publisherId: id,
  /** Of a lane that was opened again: its `reopenedKeyId`. */
  laneKeyId: id.optional(),
  targetId: id,
  buyerId: id,
  /** The target's caps were reset since: the reservation no longer counts on it. */
  resetSince: z.boolean(),
})
export type Reservation = Readonly<z.infer<typeof reservation>>
