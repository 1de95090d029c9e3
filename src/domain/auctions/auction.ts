import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { payout, price } from '../money/money.ts'
import { bids } from '../routing/bids.ts'
import { planned, skip, terms } from '../routing/decision.ts'
import { e164, named } from '../shared/fields.ts'
import { noBid, pingOutcome } from './no-bid.ts'
import { ping } from './ping.ts'

/** A number on which the call of an offer is to arrive. */
export const offeredNumber = z.object({ id, e164 })
export type OfferedNumber = Readonly<z.infer<typeof offeredNumber>>

/** What a publisher is offered for a call. */
export const offer = z.object({
  /** The auction that made the offer: of a repeated ping, an earlier one. */
  auctionId: id,
  target: named,
  /** The bid that won; null for a target with a fixed price. */
  bidId: id.nullable(),
  clearingPriceCents: price,
  payoutCents: payout,
  durationThresholdSeconds: z.int().min(0),
  /** The number of the offer: of a single-step ping, and held for a hidden caller; null where a post names it. */
  number: offeredNumber.nullable(),
  madeAt: instant,
  expiresAt: instant,
})
export type Offer = Readonly<z.infer<typeof offer>>

/** The request of a ping, as the ledger shows it: without credentials, and its caller masked unless the campaign discloses it. */
export const pingRequest = z.object({
  requestId: z.string(),
  sourceIp: z.string().nullable(),
  userAgent: z.string().nullable(),
  body: z.string().nullable(),
})
export type PingRequest = Readonly<z.infer<typeof pingRequest>>

/** An offer that an earlier ping of the same caller on the same lane got, with the terms that it was made under. */
export const repeatableOffer = z.object({ offer, terms })
export type RepeatableOffer = Readonly<z.infer<typeof repeatableOffer>>

/** What every row of the ledger has of its ping, an unreadable or refused one too. */
const pingRow = {
  ref: z.string(),
  /** Number of the auction in its workspace. */
  seq: z.int().min(1),
  request: pingRequest,
  /** From the request's arrival to the decision (ms). */
  elapsedMs: z.int().min(0),
}

const auctionKey = { auctionId: id, occurredAt: instant }

/** One try to tell a bidder that it has won. */
export const confirmTry = z.object({
  at: instant,
  /** HTTP status; null where nothing answered. */
  status: z.int().nullable(),
  ms: z.int().min(0),
  sentence: z.string(),
})

/** Events of `auction-<id>`. These names are the storage format. */
export const auctionEvents = {
  /** A ping was judged, and its bidders were asked: all of it, so that it can be decided again. */
  AuctionHeld: z.object({
    ...pingRow,
    ping,
    outcome: pingOutcome,
    reason: noBid.nullable(),
    offer: offer.nullable(),
    terms: terms.nullable(),
    /** Number of targets on the campaign's plan. */
    targetsConsidered: z.int().min(0),
    /** Targets in the order in which the won call tries them: the winner first. */
    plan: z.array(planned).readonly(),
    skipped: z.array(skip).readonly(),
    bids,
    /** Whether the campaign discloses its callers. */
    isDisclosed: z.boolean(),
    /** Whether the winning bidder wants to be told that it has won. */
    confirms: z.boolean(),
    /** `heldNumbers` are ids of numbers that were held for hidden callers, `heldNumber` that of the one that is held for this one. */
    inputs: z.object({
      seed: z.int(),
      heldNumbers: z.array(id).readonly(),
      heldNumber: id.nullable(),
      repeats: repeatableOffer.nullable(),
    }),
  }),
  /** A ping was refused before it was judged: over its key's rate, too large, unreadable, or by a fault. */
  PingRefused: z.object({
    ...auctionKey,
    ...pingRow,
    ...ping.pick({ protocol: true, environment: true, keyId: true, campaign: true, publisher: true }).shape,
    outcome: z.enum(['rate_limited', 'error']),
    reason: noBid,
    statusCode: z.int(),
  }),
  /** The publisher posted the call: the number that it gets. */
  OfferPosted: z.object({
    ...auctionKey,
    postedBy: id,
    caller: e164,
    number: offeredNumber,
    tags: z.record(z.string(), z.string()),
    expiresAt: instant,
  }),
  /** A post was refused: a cap has filled since the ping, for example. */
  PostRefused: z.object({ ...auctionKey, postedBy: id, caller: e164, reason: noBid }),
  /** The call of the offer arrived. */
  OfferClaimed: z.object({ ...auctionKey, callId: id, callRef: z.string(), bidId: id.nullable() }),
  /** No call came for an accepted post. */
  OfferExpired: z.object(auctionKey),
  /** A person voided a bid: the offer is over. */
  BidVoided: z.object({ ...auctionKey, bidId: id, target: named, note: z.string().nullable() }),
  /** The bidder that won was told so, or could not be. */
  WinConfirmed: z.object({ ...auctionKey, bidId: id, target: named, tries: z.array(confirmTry).min(1).readonly() }),
}
type DataOf<Type extends keyof typeof auctionEvents> = Readonly<z.infer<(typeof auctionEvents)[Type]>>
export type AuctionHeld = DataOf<'AuctionHeld'>

/** State of one auction. */
export interface AuctionState {
  /** Null for a ping that was refused before it was judged. */
  readonly held: AuctionHeld | null
  readonly posted: DataOf<'OfferPosted'> | null
  /** The call that claimed the offer. */
  readonly claimedBy: string | null
  readonly expired: boolean
  readonly voided: boolean
  readonly confirmed: boolean
}

const initial: AuctionState = {
  held: null,
  posted: null,
  claimedBy: null,
  expired: false,
  voided: false,
  confirmed: false,
}

type After = AuctionState | null

/** One ping of a publisher and its bids: `auction-<id>`. Its state is null before the ping. */
export const auction = defineEntity<After, typeof auctionEvents>({
  name: 'auction',
  partitionedBy: 'workspace',
  version: 1,
  shortLived: true,
  events: auctionEvents,
  initial: null,
  evolve: {
    AuctionHeld: (_state, { data: held }): After => ({ ...initial, held }),
    PingRefused: (): After => initial,
    OfferPosted: (state, { data: posted }): After => state && { ...state, posted },
    OfferClaimed: (state, { data }): After => state && { ...state, claimedBy: data.callId },
    OfferExpired: (state): After => state && { ...state, expired: true },
    BidVoided: (state): After => state && { ...state, voided: true },
    WinConfirmed: (state): After => state && { ...state, confirmed: true },
  },
})

/** Public reference of an auction: `AU-` and its number in ten digits. */
export function auctionRef(seq: number): string {
  return `AU-${String(seq).padStart(10, '0')}`
}

/** Whether an auction made an offer of its own: not a refusal, a repeated offer or a test. */
export function madeOffer({ outcome, ping }: Pick<AuctionHeld, 'outcome' | 'ping'>): boolean {
  return outcome === 'won' && ping.environment === 'production'
}
