import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { bid } from '../bidding/bid.ts'
import { figures } from '../money/figures.ts'
import { gateCode } from '../shared/call-codes.ts'
import { e164, sha256 } from '../shared/fields.ts'
import { bids } from './bids.ts'
import { callLease } from './call-lease.ts'
import { bookedFor } from './counted-call.ts'
import { arrival, claim, heldBack, planned, routingSettings, skip, terms, unrouted } from './decision.ts'
import { targetCapped } from './notified-caps.ts'
import { dialFailure, targetWentDown } from './target-health.ts'
import { reservation, wonOffer } from './won-offer.ts'

const callKey = { callId: id, occurredAt: instant }
const gates = z.object({ passed: z.array(gateCode).readonly(), failed: gateCode.nullable() })
/** Inputs of a decision beside the folds that it read. What its look-ups found is in the event's metadata (`recalled`). */
const inputs = z.object({
  seed: z.int(),
  routingKeyHash: sha256.nullable(),
  /** An offer that the call came for, and could not claim: it was over. */
  unclaimedOffer: wonOffer.optional(),
  /** Whether what was held back was judged; earlier decisions did not. */
  judgesHeldBack: z.literal(true).optional(),
})

/** Bids of a decision after the arrival, and the call that they were asked for. */
const askedBids = {
  bids,
  asked: arrival.pick({ ref: true, campaign: true, publisher: true }).optional(),
}

/** The target's caps were reset after the claim: the call counts on the buyer only. */
const resetSince = z.boolean()

/** How much of its caps a target has used, in the UTC windows of an instant. */
export const capFigures = z.object({
  hour: z.int(),
  day: z.int(),
  month: z.int(),
  total: z.int(),
  dayRevenueCents: z.int(),
})
export type CapFigures = Readonly<z.infer<typeof capFigures>>

/** Events of `ledger-<workspaceId>`. These names are the storage format. */
export const ledgerEvents = {
  CallAdmitted: z.object({
    arrival,
    gates,
    terms,
    settings: routingSettings,
    plan: z.array(planned).readonly(),
    skipped: z.array(skip).readonly(),
    claim: claim.nullable(),
    unrouted: unrouted.nullable(),
    heldBack: heldBack.optional(),
    inputs,
    bids,
    /** The offer of an auction that the call claims. */
    offer: wonOffer.optional(),
    /** The lease of the visitor who was shown the number. */
    lease: callLease.optional(),
  }),
  CallRefused: z.object({
    arrival,
    gates,
    terms,
    unrouted,
    heldBack: heldBack.optional(),
    inputs,
    bids,
    offer: wonOffer.optional(),
    lease: callLease.optional(),
  }),
  TargetClaimed: z.object({ ...callKey, claim, skipped: z.array(skip).readonly(), ...askedBids }),
  PlanSpent: z.object({ ...callKey, skipped: z.array(skip).readonly(), unrouted, ...askedBids }),
  /** Bidders were asked for a decision that was no longer needed: the call had been routed, or was over. */
  BidsUnused: z.object({ ...callKey, ...askedBids }),
  ClaimReleased: z.object({ ...callKey, attempt: z.int(), targetId: id, buyerId: id, ...dialFailure.shape }),
  /** A failure reported after its call was released: it changes only the target's health. */
  TargetFailureCounted: z.object({ ...callKey, attempt: z.int(), targetId: id, ...dialFailure.shape }),
  TargetWentDown: targetWentDown,
  TargetCapped: targetCapped,
  ClaimConnected: z.object({
    ...callKey,
    attempt: z.int(),
    targetId: id,
    buyerId: id,
    capCountsOn: claim.shape.capCountsOn,
    /** Instant of the dial, in whose windows the call counts. */
    claimedAt: instant,
    /** Key of the caller on the campaign; null for a hidden caller. */
    callerKey: z.string().nullable(),
    resetSince,
  }),
  CallReleased: z.object({
    ...callKey,
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    laneKeyId: id.optional(),
    targetId: id.nullable(),
    buyerId: id.nullable(),
  }),
  CallCounted: z.object({ ...callKey, ...bookedFor.shape, ...figures.shape, resetSince }),
  /** The books of a counted call changed. `occurredAt` is the settlement, on whose day they count. */
  CallRecounted: z.object({
    ...callKey,
    /** Number of the change of the books, from 1. */
    change: z.int().min(1),
    ...bookedFor.shape,
    /** Figures as they were counted before. */
    before: figures,
    after: figures,
    /** Ledger revision at which the call was counted first; null where that is not known. */
    revision: z.int().nullable(),
    resetSince,
  }),
  /** A publisher posted the call of an offer: a slot of each cap is held until it arrives, or the offer expires. */
  OfferReserved: z.object({
    ...reservation.omit({ reservedAt: true, resetSince: true }).shape,
    occurredAt: instant,
    ref: z.string(),
    /** The ping that was posted: of a repeated one, not that of the auction. */
    postedBy: id,
    caller: e164,
    number: z.object({ id, e164 }),
    tags: z.record(z.string(), z.string()),
    expiresAt: instant,
  }),
  ReservationReleased: z.object({
    ...reservation.shape,
    occurredAt: instant,
    reason: z.enum(['claimed', 'expired', 'void']),
  }),
  /** Requests to bidders of an auction that change the health of their targets. */
  BidsCounted: z.object({ auctionId: id, occurredAt: instant, bids: z.array(bid).min(1).readonly() }),
  TargetCapsReset: z.object({ targetId: id, targetName: z.string(), occurredAt: instant, cleared: capFigures }),
}
