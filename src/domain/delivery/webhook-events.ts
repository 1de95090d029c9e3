import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { callStatus, dialOutcome, unroutedReason } from '../shared/call-codes.ts'
import { CAP_SCOPES, CAP_WINDOWS } from '../shared/cap-names.ts'

const nullableText = z.string().nullable()
const cents = z.int()

/** The 26 fields of every event about a call (Document 2, Payload core). A fact that a call lacks is null, never absent. */
export const payloadCore = z.object({
  callId: id,
  ref: z.string(),
  status: callStatus,
  campaignId: id.nullable(),
  campaignName: nullableText,
  publisherId: id.nullable(),
  publisherName: nullableText,
  publisherRef: nullableText,
  buyerId: id.nullable(),
  buyerName: nullableText,
  targetId: id.nullable(),
  targetName: nullableText,
  targetExternalRef: nullableText,
  callerNumber: nullableText,
  callerState: nullableText,
  callerCity: nullableText,
  callerZip: nullableText,
  dialedNumber: z.string(),
  startedAt: instant,
  answeredAt: instant.nullable(),
  endedAt: instant.nullable(),
  talkSeconds: z.int(),
  converted: z.boolean(),
  revenueCents: cents,
  payoutCents: cents,
  tags: z.record(z.string(), z.string()),
})
export type PayloadCore = Readonly<z.infer<typeof payloadCore>>

const attemptNo = z.int().min(1)
const failure = dialOutcome

/** The ten events (Document 2, Events): what makes each fire, and its payload. These names are the wire format. */
export const webhookEvents = {
  'call.incoming': {
    description: 'A call arrives, after its gates have been checked.',
    data: payloadCore,
  },
  'call.routed': {
    description: 'A target is chosen and being dialled; once per attempt.',
    data: payloadCore.extend({ attemptNo }),
  },
  'call.failover': {
    description: 'A target did not take the call, and the next one is tried.',
    data: payloadCore.extend({
      attemptNo,
      reason: failure,
      sipCode: z.int().nullable(),
      sentence: z.string(),
      nextTargetId: id.nullable(),
      nextTargetName: nullableText,
    }),
  },
  'call.connected': {
    description: 'A buyer answered.',
    data: payloadCore.extend({ attemptNo }),
  },
  'call.completed': {
    description: 'The call ended and its books were written; sent for every call.',
    data: payloadCore.extend({ reason: z.string() }),
  },
  'call.converted': {
    description: 'The call earned its price: at its settlement, or later by a conversion or a correction.',
    data: payloadCore.extend({ reason: z.string() }),
  },
  'call.unrouted': {
    description: 'No target took the call.',
    data: payloadCore.extend({
      reason: unroutedReason,
      sentence: z.string(),
      action: z.enum(['hangup', 'message', 'forward']),
    }),
  },
  'target.capped': {
    description: 'A target or its buyer reached a cap with this call; once per window.',
    data: z.union([
      payloadCore.extend({
        scope: z.enum(CAP_SCOPES),
        window: z.enum(CAP_WINDOWS),
        cap: z.int(),
        count: z.int(),
      }),
      payloadCore.extend({ scope: z.enum(CAP_SCOPES), window: z.enum(CAP_WINDOWS), capCents: cents, cents }),
    ]),
  },
  'target.down': {
    description: 'A target failed three times in a row; once, until a call connects.',
    data: payloadCore.extend({
      reason: failure.exclude(['abandoned']),
      consecutiveFailures: z.int().min(1),
      sentence: z.string(),
    }),
  },
  'wallet.low': {
    description: 'A caller was turned away because the wallet is empty.',
    data: z.object({
      agencyId: id,
      agencyName: z.string(),
      balanceCents: cents,
      reason: z.literal('workspace_unfunded'),
    }),
  },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly data: z.ZodType }>>

export type WebhookEventName = keyof typeof webhookEvents
export type WebhookData<Name extends WebhookEventName = WebhookEventName> = Readonly<
  z.infer<(typeof webhookEvents)[Name]['data']>
>

/** The names of the ten events, in the order of Document 2. */
export const WEBHOOK_EVENT_NAMES = Object.keys(webhookEvents) as readonly WebhookEventName[]
export const webhookEventName = z.enum(WEBHOOK_EVENT_NAMES as [WebhookEventName, ...WebhookEventName[]])

/** An event as it fired: its name, its payload, and what endpoints are narrowed to. */
export interface FiredEvent<Name extends WebhookEventName = WebhookEventName> {
  readonly name: Name
  readonly data: WebhookData<Name>
}

/** The body of a delivery (Document 2, Envelope). `createdAt` is when this attempt was built. */
export interface Envelope {
  /** `req_` and 32 hexadecimal digits: the same in every attempt and replay. */
  readonly id: string
  readonly event: WebhookEventName
  readonly createdAt: string
  readonly data: Readonly<Record<string, unknown>>
  readonly test?: true
}
