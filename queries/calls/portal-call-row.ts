import { z } from 'zod'
import { publisherSentence } from '../../src/domain/calls/publisher-wording.ts'
import { tagsOf } from '../../src/domain/calls/tags.ts'
import { maskDestination } from '../../src/domain/shared/format.ts'
import { type CallDoc, callRow } from './call-row.ts'

const { id, ref, startedAt, campaign, callerNumber, dialedNumber, status, outcome } = callRow.shape
const { talkSeconds, payoutCents, tags } = callRow.shape

/** A call as its publisher sees it (Supplement §10): no buyer, target, revenue or story. */
export const portalCallRow = z
  .object({
    id,
    ref,
    startedAt,
    campaign,
    callerNumber,
    dialedNumber,
    status,
    outcome,
    talkSeconds,
    payoutCents,
    reason: z.string().nullable(),
    tags,
  })
  .meta({ id: 'PortalCall' })

/** The tags that came from the publisher. */
function publisherTags({ tags, tagSources }: CallDoc) {
  return tagsOf(Object.fromEntries(Object.entries(tags).filter(([key]) => tagSources[key] === 'publisher')))
}

/** The row of a call for its publisher. */
export function portalCallRowOf(doc: CallDoc): z.infer<typeof portalCallRow> {
  return {
    id: doc.id,
    ref: doc.ref,
    startedAt: doc.startedAt,
    campaign: doc.campaign,
    callerNumber: doc.callerNumber && maskDestination(doc.callerNumber),
    dialedNumber: doc.dialedNumber,
    status: doc.status,
    outcome: doc.outcome,
    talkSeconds: doc.talkSeconds,
    payoutCents: doc.payoutCents,
    reason: doc.reasonCode && publisherSentence(doc.reasonCode),
    tags: publisherTags(doc),
  }
}
