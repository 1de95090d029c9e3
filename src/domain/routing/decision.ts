import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { bid } from '../bidding/bid.ts'
import { campaignSettings } from '../campaigns/campaign.ts'
import { payout, percent, price } from '../money/money.ts'
import { attribution, skipReason, unroutedReason } from '../shared/call-codes.ts'
import { e164, named } from '../shared/fields.ts'

/** What happens to a caller that no target takes. */
export const unroutedAction = z.object({
  action: campaignSettings.shape.unroutedAction,
  message: z.string().nullable(),
  forwardE164: e164.nullable(),
})
export type UnroutedAction = Readonly<z.infer<typeof unroutedAction>>

/** Why a call reached no buyer, and what happens to its caller. `sentence` is recorded and never changes. */
export const unrouted = z.object({ reason: unroutedReason, sentence: z.string(), ...unroutedAction.shape })
export type Unrouted = Readonly<z.infer<typeof unrouted>>

/** A skipped target, with the figures that its sentence names. */
export const skip = z.object({
  targetId: id,
  targetName: z.string(),
  reason: skipReason,
  sentence: z.string(),
  figures: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
})
export type Skip = Readonly<z.infer<typeof skip>>

/**
 * What one reason alone held back of a call that no target took: the first target of its plan that would have taken it, and what it
 * would have paid. The reason is that of the gate, or why the target was passed over.
 */
export const heldBack = z.object({
  reason: z.enum([...unroutedReason.options, ...skipReason.options]),
  target: named,
  revenueCents: price,
})
export type HeldBack = Readonly<z.infer<typeof heldBack>>

/** An arriving call: caller, number, campaign and publisher, frozen as they are at the arrival. */
export const arrival = z.object({
  callId: id,
  carrierCallId: z.string(),
  /** Number of the call in its workspace, from 1; `ref` is its public form. */
  seq: z.int().min(1),
  ref: z.string(),
  occurredAt: instant,
  caller: e164.nullable(),
  callerState: z.string().nullable(),
  callerCity: z.string().nullable(),
  dialedNumber: z.string(),
  numberId: id.nullable(),
  /** Pool of the number at the arrival; of a call that matches a lease, the pool that leased it. */
  numberPoolId: id.nullable(),
  /** Session of the visitor who was shown the number. */
  dniSessionId: z.string().optional(),
  attribution,
  campaign: named.nullable(),
  publisher: named.nullable(),
  /** The publisher's lane where it was opened again, by its `reopenedKeyId`: its counters are its own. */
  laneKeyId: id.optional(),
  routingMode: campaignSettings.shape.routingMode.nullable(),
  recordCalls: z.boolean(),
  /** Observed and sent tags, each with its source. */
  tags: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
  /** The auction that the call was won at, and what only the publisher says of its caller. */
  auction: z
    .object({
      id,
      ref: z.string(),
      callerZip: z.string().nullable(),
      publisherRef: z.string().nullable(),
      externalCallId: z.string().nullable(),
    })
    .optional(),
})
export type Arrival = Readonly<z.infer<typeof arrival>>

/** The `laneKeyId` of an event about a call, as its arrival has it. */
export function laneKeyOf({ laneKeyId }: Pick<Arrival, 'laneKeyId'>): Pick<Arrival, 'laneKeyId'> {
  return laneKeyId === undefined ? {} : { laneKeyId }
}

/** What a publisher was offered for a call that it won at auction (Supplement §6, Settlement). */
export const promise = z.object({ payoutCents: payout, durationThresholdSeconds: z.int().min(0) })

/** The money terms of a call, frozen at its arrival; of a call that was won at auction, at its ping. */
export const terms = z.object({
  payoutMode: z.enum(['none', 'fixed', 'revshare']),
  payoutCents: payout.nullable(),
  revsharePct: percent.nullable(),
  minPayoutCents: payout.nullable(),
  maxPayoutCents: payout.nullable(),
  /** Why the publisher earns nothing from this call; null when it may. */
  payoutWithheld: z.enum(['publisher_not_live', 'lane_closed', 'lane_state', 'lane_capped', 'duplicate']).nullable(),
  /** Effective buffer before settlement. */
  bufferSeconds: z.int(),
  /** Cents per connected minute, two decimals. */
  usageRateCents: z.number(),
  /** The offer that the call claimed at its arrival. */
  promise: promise.optional(),
})
export type Terms = Readonly<z.infer<typeof terms>>

/** A target on a plan, with its price and threshold at the arrival. */
export const planned = z.object({
  targetId: id,
  targetName: z.string(),
  priority: z.int(),
  weight: z.int(),
  /** Route override, else the target's own price; 0 for a delivery target. With a bid, the bid. */
  revenueCents: price,
  durationThresholdSeconds: z.int(),
  /** A bidder's bid, where it was asked before its turn. */
  bid: bid.pick({ bidId: true, destination: true }).extend({ expiresAt: instant }).optional(),
})
export type Planned = Readonly<z.infer<typeof planned>>

/** A target that is being dialled, and the terms of the dial. It holds a slot of each call cap. */
export const claim = z.object({
  attempt: z.int().min(1),
  target: named,
  buyer: named,
  externalRef: z.string().nullable(),
  deliveryMode: z.enum(['pstn', 'sip']),
  destination: z.string(),
  callerId: z.string().nullable(),
  whisper: z.object({ text: z.string(), acceptDigit: z.string().nullable() }).nullable(),
  ringSeconds: z.int().min(1),
  revenueCents: price,
  durationThresholdSeconds: z.int(),
  capCountsOn: z.enum(['claimed', 'connected', 'converted']),
  occurredAt: instant,
  /** The bid at which the call goes to a bidder. */
  bidId: id.optional(),
})
export type Claim = Readonly<z.infer<typeof claim>>

/** Routing settings of the campaign, frozen for the whole call. */
export const routingSettings = z.object({
  dialTimeoutSeconds: z.int(),
  /** End of the failover budget. */
  deadline: instant,
  states: z.array(z.string()).readonly(),
  unrouted: unroutedAction,
})
export type RoutingSettings = Readonly<z.infer<typeof routingSettings>>

/** Public reference of a call: `CA-` and its number in ten digits. */
export function callRef(seq: number): string {
  return `CA-${String(seq).padStart(10, '0')}`
}
