import { z } from 'zod'
import { cents, id, instant } from '../../kernel/wire.ts'
import { campaignSettings } from '../campaigns/campaign.ts'
import { attribution, callOutcome, callStatus } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { callEvents } from './call.ts'

const flag = z.union([z.literal(0), z.literal(1)])

/** A call as the call log keeps it: the list's row, the live board's row, and the facts of its own page. */
export const callRecord = z.object({
  workspaceId: id,
  seq: z.int(),
  ref: z.string(),
  startedAt: instant,
  startedMs: z.int(),
  status: callStatus,
  outcome: callOutcome,
  callerNumber: z.string().nullable(),
  /** Digits of the caller from the last to the first, so that what a number ends with is a range. */
  callerReversed: z.string().nullable(),
  callerState: z.string().nullable(),
  callerCity: z.string().nullable(),
  dialedNumber: z.string(),
  numberId: id.nullable(),
  numberPoolId: id.nullable(),
  campaign: named.nullable(),
  publisher: named.nullable(),
  buyer: named.nullable(),
  target: named.nullable(),
  talkSeconds: z.int(),
  ringSeconds: z.int(),
  converted: z.boolean(),
  revenueCents: cents,
  payoutCents: cents,
  profitCents: cents,
  usageCents: cents,
  reasonCode: z.string().nullable(),
  reasonSentence: z.string().nullable(),
  hasRecording: z.boolean(),
  /** By stored key (`domain/tags.ts`). */
  tags: z.record(z.string(), z.string()),
  tagSources: z.record(z.string(), z.string()),
  direction: z.literal('inbound'),
  attribution,
  routingMode: campaignSettings.shape.routingMode.nullable(),
  deliveryMode: z.enum(['pstn', 'sip', 'forward']).nullable(),
  attemptCount: z.int(),
  answeredAt: instant.nullable(),
  answeredMs: z.int().nullable(),
  endedAt: instant.nullable(),
  endedMs: z.int().nullable(),
  hungUpBy: callEvents.CallEnded.shape.hungUpBy.nullable(),
  settledAt: instant.nullable(),
  convertedAt: instant.nullable(),
  conversionSource: callEvents.CallSettled.shape.source,
  // One of the five is 1, as the outcome says: they are what sums count.
  liveCount: flag,
  connectedCount: flag,
  convertedCount: flag,
  unroutedCount: flag,
  missedCount: flag,
  /** Its row of the file (`call-line.ts`), made of the rest. */
  row: z.string(),
})
export type CallRecord = z.infer<typeof callRecord>

/** Digits of a number from the last to the first. */
export function reverseDigits(number: string): string {
  return number.replace(/\D/g, '').split('').toReversed().join('')
}
