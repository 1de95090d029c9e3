import { z } from 'zod'
import type { SavedRecording } from '../../projections/calls/call-recordings.ts'
import type { callStory } from '../../projections/calls/call-story.ts'
import { corrections } from '../../src/domain/calls/call-changes.ts'
import { callRecord } from '../../src/domain/calls/call-record.ts'
import { adjustment } from '../../src/domain/calls/story.ts'
import { tagsOf } from '../../src/domain/calls/tags.ts'
import { terms } from '../../src/domain/routing/decision.ts'
import { payoutFor } from '../../src/domain/routing/terms.ts'
import type { Mount } from '../../src/kernel/query.ts'
import { id } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'
import { type CallDoc, callRow, callRowOf } from './call-row.ts'
import { recordingOf, recordingShape } from './recording-shape.ts'

/** Document of a call's story. */
export type StoryDoc = DocOf<typeof callStory>

const { direction, attribution, routingMode, deliveryMode, attemptCount, answeredAt, endedAt } = callRecord.shape
const { hungUpBy, callerState, callerCity, tagSources, settledAt, convertedAt, conversionSource } = callRecord.shape

/** A call in full: the row and all further fields (Document 2, Call detail). */
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
  corrections: corrections.nullable(),
  adjustments: z.array(adjustment).readonly(),
  conversionNote: z.string().nullable(),
  recordings: z.array(recordingShape),
  recordingsReason: z.enum(['not_saved', 'never_answered']).nullable(),
})

/**
 * Figures of the call if it converts, frozen at its arrival: the price of the target dialled last, and the payout that was
 * promised at auction, else by the terms. Null where no dial has determined them yet.
 */
export function frozenOf({ terms, sold }: StoryDoc): z.infer<typeof callDetail>['frozen'] {
  const unknown = sold === null && terms.payoutMode === 'revshare' && terms.payoutWithheld === null
  return {
    revenueCents: sold?.revenueCents ?? null,
    payoutCents: terms.promise?.payoutCents ?? (unknown ? null : payoutFor(terms, sold?.revenueCents ?? 0)),
    durationThresholdSeconds: sold?.durationThresholdSeconds ?? null,
    payoutWithheld: terms.payoutWithheld,
  }
}

function recordingsReason(
  { answeredAt }: CallDoc,
  recordings: readonly SavedRecording[],
): z.infer<typeof callDetail>['recordingsReason'] {
  if (recordings.length > 0) return null
  return answeredAt === null ? 'never_answered' : 'not_saved'
}

/** The detail of a call for a response. */
export function callDetailOf(
  doc: CallDoc,
  story: StoryDoc,
  recordings: readonly SavedRecording[],
  surface: Mount['surface'],
): z.infer<typeof callDetail> {
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
    numberPoolId: doc.numberPoolId,
    dniSessionId: doc.dniSessionId ?? null,
    deliveryMode: doc.deliveryMode,
    tagSources: tagsOf(doc.tagSources),
    settlementMode: 'books_only',
    settledAt: doc.settledAt,
    convertedAt: doc.convertedAt,
    conversionSource: doc.conversionSource,
    frozen: frozenOf(story),
    usageRateCents: story.terms.usageRateCents,
    corrections: story.corrections,
    adjustments: story.adjustments,
    conversionNote: story.conversionNote,
    recordings: recordings.map((recording) => recordingOf(recording, doc.id, surface)),
    recordingsReason: recordingsReason(doc, recordings),
  }
}
