import { z } from 'zod'
import { cents, id, instant } from '../../kernel/wire.ts'
import { campaignSettings } from '../campaigns/campaign.ts'
import { attribution, callOutcome, callStatus } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { callEvents } from './call.ts'

const flag = z.union([z.literal(0), z.literal(1)])

/** Document of the call log: the fields of the list, of the live board, and of the call's own page. */
export const callRecord = z.object({
  workspaceId: id,
  seq: z.int(),
  ref: z.string(),
  startedAt: instant,
  startedMs: z.int(),
  status: callStatus,
  outcome: callOutcome,
  callerNumber: z.string().nullable(),
  /** The caller's digits reversed, so that a filter on a number's last digits is an index range. */
  callerReversed: z.string().nullable(),
  callerState: z.string().nullable(),
  callerCity: z.string().nullable(),
  dialedNumber: z.string(),
  numberId: id.nullable(),
  numberPoolId: id.nullable(),
  /** Session of the visitor who was shown the number. */
  dniSessionId: z.string().optional(),
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
  /** Tags by stored key (`tags.ts`). */
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
  // Flags by outcome, which sums add up (a converted call is connected as well).
  liveCount: flag,
  connectedCount: flag,
  convertedCount: flag,
  unroutedCount: flag,
  missedCount: flag,
  /** The call's row in the exported file (`csv-row.ts`), derived from the other fields. */
  csvRow: z.string(),
})
export type CallRecord = z.infer<typeof callRecord>

/** The digits of a number in reverse order. */
export function reverseDigits(number: string): string {
  return number.replace(/\D/g, '').split('').toReversed().join('')
}

/** The outcome of a call with these books: one that no longer converts is `connected` again. */
export function outcomeAfterBooks(outcome: CallRecord['outcome'], converted: boolean): CallRecord['outcome'] {
  if (converted) return 'converted'
  return outcome === 'converted' ? 'connected' : outcome
}
