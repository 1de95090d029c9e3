import { z } from 'zod'
import type { callLog } from '../../projections/calls/call-log.ts'
import { tagsOf } from '../../src/domain/calls/tags.ts'
import { callOutcome, callStatus } from '../../src/domain/shared/call-codes.ts'
import { named } from '../../src/domain/shared/fields.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'

/** A document of the call log. */
export type CallDoc = WithId<DocOf<typeof callLog>>

/** A call in a list (Document 2, Call). */
export const callRow = z
  .object({
    id,
    ref: z.string(),
    startedAt: instant,
    status: callStatus,
    outcome: callOutcome,
    callerNumber: z.string().nullable(),
    dialedNumber: z.string(),
    campaign: named.nullable(),
    publisher: named.nullable(),
    buyer: named.nullable(),
    target: named.nullable(),
    talkSeconds: z.int(),
    ringSeconds: z.int(),
    converted: z.boolean(),
    revenueCents: z.int(),
    payoutCents: z.int(),
    profitCents: z.int(),
    usageCents: z.int(),
    reasonCode: z.string().nullable(),
    reasonSentence: z.string().nullable(),
    hasRecording: z.boolean(),
    tags: z.record(z.string(), z.string()),
  })
  .meta({ id: 'CallRow' })
export type CallRow = z.infer<typeof callRow>

/** The row of a call. */
export function callRowOf(doc: CallDoc): CallRow {
  return {
    id: doc.id,
    ref: doc.ref,
    startedAt: doc.startedAt,
    status: doc.status,
    outcome: doc.outcome,
    callerNumber: doc.callerNumber,
    dialedNumber: doc.dialedNumber,
    campaign: doc.campaign,
    publisher: doc.publisher,
    buyer: doc.buyer,
    target: doc.target,
    talkSeconds: doc.talkSeconds,
    ringSeconds: doc.ringSeconds,
    converted: doc.converted,
    revenueCents: doc.revenueCents,
    payoutCents: doc.payoutCents,
    profitCents: doc.profitCents,
    usageCents: doc.usageCents,
    reasonCode: doc.reasonCode,
    reasonSentence: doc.reasonSentence,
    hasRecording: doc.hasRecording,
    tags: tagsOf(doc.tags),
  }
}
