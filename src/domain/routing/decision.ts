import { z } from 'zod'
import type { Upcast } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { campaignSettings } from '../campaigns/campaign.ts'
import { payout, percent, price } from '../money/money.ts'
import { attribution, skipReason, unroutedReason } from '../shared/call-codes.ts'
import { e164, named } from '../shared/fields.ts'

/** What becomes of a caller whom nobody took. */
export const unroutedAction = z.object({
  action: campaignSettings.shape.unroutedAction,
  message: z.string().nullable(),
  forwardE164: e164.nullable(),
})
export type UnroutedAction = Readonly<z.infer<typeof unroutedAction>>

/** The end of a call that reached no buyer. `sentence` is written at the time and never changes. */
export const unrouted = z.object({ reason: unroutedReason, sentence: z.string(), ...unroutedAction.shape })
export type Unrouted = Readonly<z.infer<typeof unrouted>>

/** One target passed over, with the figures that its sentence names. */
export const skip = z.object({
  targetId: id,
  targetName: z.string(),
  reason: skipReason,
  sentence: z.string(),
  figures: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
})
export type Skip = Readonly<z.infer<typeof skip>>

/** A call as it arrives: who, on what, for whom. Everything here is frozen. */
export const arrival = z.object({
  callId: id,
  carrierCallId: z.string(),
  /** Number of the call in its workspace, from 1; `ref` spells it. */
  seq: z.int().min(1),
  ref: z.string(),
  occurredAt: instant,
  caller: e164.nullable(),
  callerState: z.string().nullable(),
  callerCity: z.string().nullable(),
  dialedNumber: z.string(),
  numberId: id.nullable(),
  /** The pool that the number was in. */
  numberPoolId: id.nullable(),
  attribution,
  campaign: named.nullable(),
  publisher: named.nullable(),
  routingMode: campaignSettings.shape.routingMode.nullable(),
  recordCalls: z.boolean(),
  /** Observed and sent tags, each with its source. */
  tags: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
})
export type Arrival = Readonly<z.infer<typeof arrival>>

const arrived = z.looseObject({ arrival: z.looseObject({}) })
/** Arrivals of before named no pool. */
export const addNumberPool: Upcast = (data) => {
  const { arrival, ...rest } = arrived.parse(data)
  return { ...rest, arrival: { ...arrival, numberPoolId: null } }
}

/** The money terms of a call, frozen at its arrival. */
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
  /** Cents for a connected minute, two decimals. */
  usageRateCents: z.number(),
})
export type Terms = Readonly<z.infer<typeof terms>>

/** One target of a plan, with its price and threshold as they were at the arrival. */
export const planned = z.object({
  targetId: id,
  targetName: z.string(),
  priority: z.int(),
  weight: z.int(),
  /** Route override, else the target's own price; 0 for a delivery target. */
  revenueCents: price,
  durationThresholdSeconds: z.int(),
})
export type Planned = Readonly<z.infer<typeof planned>>

/** One target about to be dialled, and the slots that the dial holds. */
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
})
export type Claim = Readonly<z.infer<typeof claim>>

/** What a campaign's settings say about routing a call that has arrived; they hold for the whole call. */
export const routingSettings = z.object({
  dialTimeoutSeconds: z.int(),
  /** When the waterfall's time is spent. */
  deadline: instant,
  states: z.array(z.string()).readonly(),
  unrouted: unroutedAction,
})
export type RoutingSettings = Readonly<z.infer<typeof routingSettings>>

/** Public reference of a call from its number. */
export function callRef(seq: number): string {
  return `CA-${String(seq).padStart(10, '0')}`
}
