import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { payout, price } from '../money/money.ts'
import { bids } from '../routing/bids.ts'
import { planned, skip, terms } from '../routing/decision.ts'
import { named } from '../shared/fields.ts'
import { noBid, pingOutcome } from './no-bid.ts'
import { ping } from './ping.ts'

/** What a publisher is offered for a call. */
export const offer = z.object({
  target: named,
  /** The bid that won; null for a target with a fixed price. */
  bidId: id.nullable(),
  clearingPriceCents: price,
  payoutCents: payout,
  durationThresholdSeconds: z.int().min(0),
  expiresAt: instant,
})
export type Offer = Readonly<z.infer<typeof offer>>

/** Events of `auction-<id>`. These names are the storage format. */
export const auctionEvents = {
  /** A ping was judged, and its bidders were asked: all of it, so that it can be decided again. */
  AuctionHeld: z.object({
    ping,
    ref: z.string(),
    outcome: pingOutcome,
    reason: noBid.nullable(),
    offer: offer.nullable(),
    terms: terms.nullable(),
    /** Targets in the order in which the won call tries them: the winner first. */
    plan: z.array(planned).readonly(),
    skipped: z.array(skip).readonly(),
    bids,
    inputs: z.object({ seed: z.int() }),
  }),
}

/** State of one auction. */
export interface AuctionState {
  readonly offer: Offer | null
}

/** One ping of a publisher and its bids: `auction-<id>`. Its state is null before the ping. */
export const auction = defineEntity<AuctionState | null, typeof auctionEvents>({
  name: 'auction',
  partitionedBy: 'workspace',
  version: 1,
  events: auctionEvents,
  initial: null,
  evolve: {
    AuctionHeld: (_state, { data: { offer } }) => ({ offer }),
  },
})

/** Public reference of an auction: `AU-` and its number in ten digits. */
export function auctionRef(seq: number): string {
  return `AU-${String(seq).padStart(10, '0')}`
}
