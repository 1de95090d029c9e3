import { z } from 'zod'
import type { callStory } from '../projections/call-story.ts'
import { payoutFor } from '../src/domain/books.ts'
import { terms } from '../src/domain/call-facts.ts'
import { callRecord } from '../src/domain/call-record.ts'
import { tagsOf } from '../src/domain/tags.ts'
import { id, instant } from '../src/kernel/wire.ts'
import { type CallDoc, callRow, callRowOf } from './call-row.ts'
import type { DocOf } from './documents.ts'

/** A call's waterfall with the terms frozen on it. */
export type StoryDoc = DocOf<typeof callStory>

const figures = z.object({ converted: z.boolean(), revenueCents: z.int(), payoutCents: z.int() })

/** A figure that a person or a key set (Supplement §6, `adjust`). */
export const adjustment = z.object({
  id,
  at: instant,
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  source: z.enum(['key', 'user']),
  before: figures,
  after: figures,
  reason: z.string(),
})

const recording = z.object({
  id,
  format: z.string(),
  channels: z.int(),
  durationSeconds: z.int(),
  createdAt: instant,
  expiresAt: instant,
  url: z.string(),
})

const { direction, attribution, routingMode, deliveryMode, attemptCount, answeredAt, endedAt } = callRecord.shape
const { hungUpBy, callerState, callerCity, tagSources, settledAt, convertedAt, conversionSource } = callRecord.shape

/** A call as its own page answers it: the row, and all that is known besides (Document 2, Call detail). */
export const callDetail = callRow.extend({
  direction,
  attribution,
  routingMode,
  answeredAt,
  endedAt,
  hungUpBy,
  endedReason: z.string().nullable(),
  attemptCount,
  callerState,
  callerCity,
  dialedNumberId: id.nullable(),
  numberPoolId: id.nullable(),
  dniSessionId: z.string().nullable(),
  deliveryMode,
  tagSources,
  settlementMode: z.literal('books_only'),
  settledAt,
  convertedAt,
  conversionSource,
  frozen: z.object({
    revenueCents: z.int().nullable(),
    payoutCents: z.int().nullable(),
    durationThresholdSeconds: z.int().nullable(),
    payoutWithheld: terms.shape.payoutWithheld,
  }),
  usageRateCents: z.number(),
  corrections: figures.partial().nullable(),
  adjustments: z.array(adjustment),
  conversionNote: z.string().nullable(),
  recordings: z.array(recording),
  recordingsReason: z.enum(['not_saved', 'never_answered']).nullable(),
})

/**
 * What the call is worth when it converts, as frozen at its arrival: the price of the target last dialled, and the
 * payout that the terms make of it. Null where no dial has said it yet.
 */
export function frozenOf({ terms, sold }: StoryDoc): z.infer<typeof callDetail>['frozen'] {
  const unknown = sold === null && terms.payoutMode === 'revshare' && terms.payoutWithheld === null
  return {
    revenueCents: sold?.revenueCents ?? null,
    payoutCents: unknown ? null : payoutFor(terms, sold?.revenueCents ?? 0),
    durationThresholdSeconds: sold?.durationThresholdSeconds ?? null,
    payoutWithheld: terms.payoutWithheld,
  }
}

function recordingsReason({ answeredAt, hasRecording }: CallDoc): z.infer<typeof callDetail>['recordingsReason'] {
  if (answeredAt === null) return 'never_answered'
  return hasRecording ? null : 'not_saved'
}

/** The detail of a call. */
export function callDetailOf(doc: CallDoc, story: StoryDoc): z.infer<typeof callDetail> {
  return {
    ...callRowOf(doc),
    direction: doc.direction,
    attribution: doc.attribution,
    routingMode: doc.routingMode,
    answeredAt: doc.answeredAt,
    endedAt: doc.endedAt,
    hungUpBy: doc.hungUpBy,
    endedReason: doc.outcome === 'unrouted' ? doc.reasonCode : null,
    attemptCount: doc.attemptCount,
    callerState: doc.callerState,
    callerCity: doc.callerCity,
    dialedNumberId: doc.numberId,
    numberPoolId: null,
    dniSessionId: null,
    deliveryMode: doc.deliveryMode,
    tagSources: tagsOf(doc.tagSources),
    settlementMode: 'books_only',
    settledAt: doc.settledAt,
    convertedAt: doc.convertedAt,
    conversionSource: doc.conversionSource,
    frozen: frozenOf(story),
    usageRateCents: story.terms.usageRateCents,
    corrections: null,
    adjustments: [],
    conversionNote: null,
    recordings: [],
    recordingsReason: recordingsReason(doc),
  }
}
