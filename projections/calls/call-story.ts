import { z } from 'zod'
import type { Bid } from '../../src/domain/bidding/bid.ts'
import { type AskedCall, claimedPing, outboundPing, pingForCall } from '../../src/domain/bidding/outbound-ping.ts'
import { callEvents } from '../../src/domain/calls/call.ts'
import { corrections } from '../../src/domain/calls/call-changes.ts'
import {
  adjustment,
  answerSentence,
  answerStep,
  arrivalSteps,
  attemptOf,
  booksChangedStep,
  busyTargets,
  dialStep,
  endStep,
  failureStep,
  offerPings,
  pingSteps,
  type StoryAttempt,
  type StoryEvent,
  type StoryStep,
  settlementStep,
  skipSteps,
  storyAttempt,
  storyEvent,
  storyStep,
  unroutedStep,
} from '../../src/domain/calls/story.ts'
import { terms } from '../../src/domain/routing/decision.ts'
import { reasonSentence } from '../../src/domain/routing/reasons.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { cents, id } from '../../src/kernel/wire.ts'

const doc = z.object({
  workspaceId: id,
  /** The call's present state in one sentence. */
  summary: z.string(),
  steps: z.array(storyStep).readonly(),
  attempts: z.array(storyAttempt).readonly(),
  events: z.array(storyEvent).readonly(),
  /** Requests to bidders, in their order. */
  pings: z.array(outboundPing).readonly(),
  /** The call, as its pings name it. */
  asked: z.object({ ref: z.string(), campaign: named.nullable(), publisher: named.nullable() }),
  terms,
  /** Price and threshold of the target last dialled; null before the first. */
  sold: z.object({ revenueCents: cents, durationThresholdSeconds: z.int() }).nullable(),
  corrections: corrections.nullable(),
  /** Oldest first. */
  adjustments: z.array(adjustment).readonly(),
  /** The note on a conversion, or on its correction. */
  conversionNote: z.string().nullable(),
})
type Doc = z.infer<typeof doc>

interface CallEvent {
  readonly data: { readonly occurredAt: string }
  readonly meta: { readonly eventId: string }
}

function storyEventOf({ data, meta }: CallEvent, source: StoryEvent['source'], type: string): StoryEvent {
  return { id: meta.eventId, at: data.occurredAt, source, type }
}

const addToStory = (doc: Doc, entry: StoryEvent, ...steps: readonly StoryStep[]): Doc => ({
  ...doc,
  steps: [...doc.steps, ...steps],
  events: [...doc.events, entry],
})

function withAttempt(doc: Doc, attemptNo: number, changes: Partial<StoryAttempt>): Doc['attempts'] {
  return doc.attempts.map((each) => (each.attemptNo === attemptNo ? { ...each, ...changes } : each))
}

const pingsOf = (bids: readonly Bid[] = [], call: AskedCall) => bids.map((each) => pingForCall(each, call))

/** Whether the call reached no buyer: its summary then says why, whatever its books become. */
function isUnrouted({ steps }: Doc): boolean {
  return steps.some(({ step }) => step === 'unrouted')
}

/** A call's waterfall, by call id, with the sentences as they were recorded, in their order. */
export const callStory = defineProjection({
  name: 'call-story',
  // 7: requests to bidders, at auctions too.
  version: 7,
  events: callEvents,
  doc,
  indexes: [],
  key: ({ data }) => ('arrival' in data ? data.arrival.callId : data.callId),
  create: {
    CallArrived({ data, meta }): Doc | null {
      if (meta.workspaceId === null) return null
      const { terms, arrival } = data
      return {
        workspaceId: meta.workspaceId,
        summary: 'The call is looking for a target.',
        steps: arrivalSteps(data),
        attempts: [],
        events: [storyEventOf({ data: arrival, meta }, 'carrier', 'call.arrived')],
        pings: [...offerPings(data), ...pingsOf(data.bids, arrival)],
        asked: { ref: arrival.ref, campaign: arrival.campaign, publisher: arrival.publisher },
        terms,
        sold: null,
        corrections: null,
        adjustments: [],
        conversionNote: null,
      }
    },
  },
  update: {
    TargetDialed(doc, event) {
      const { callId, claim, skipped, bids, occurredAt } = event.data
      const { revenueCents, durationThresholdSeconds } = claim
      const busy = busyTargets(doc.steps)
      const steps = [...pingSteps(bids), ...skipSteps(skipped, occurredAt, busy), dialStep(event.data, busy)]
      const pings = [...doc.pings, ...pingsOf(bids, { ...doc.asked, callId })]
      const attempt = attemptOf(event.data)
      return {
        ...addToStory(doc, storyEventOf(event, 'system', 'target.dialed'), ...steps),
        summary: attempt.result,
        attempts: [...doc.attempts, attempt],
        pings: pings.map((ping) => (ping.id === claim.bidId ? claimedPing(ping, callId) : ping)),
        sold: { revenueCents, durationThresholdSeconds },
      }
    },
    TargetFailed(doc, event) {
      const { attempt, outcome, sipCode, rangSeconds, whisperAccepted, sentence, occurredAt } = event.data
      const ended = { endedAt: occurredAt, outcome, sipCode, rangSeconds, whisperAccepted, result: sentence }
      return {
        ...addToStory(doc, storyEventOf(event, 'carrier', 'target.failed'), failureStep(event.data)),
        summary: sentence,
        attempts: withAttempt(doc, attempt, ended),
      }
    },
    TargetAnswered(doc, event) {
      const { attempt, rangSeconds, whisperAccepted } = event.data
      const result = answerSentence(event.data)
      const answered = { outcome: 'answered', rangSeconds, whisperAccepted, result } as const
      return {
        ...addToStory(doc, storyEventOf(event, 'carrier', 'target.answered'), answerStep(event.data)),
        summary: result,
        attempts: withAttempt(doc, attempt, answered),
      }
    },
    CallUnrouted(doc, event) {
      const { callId, unrouted, skipped, bids, occurredAt } = event.data
      const steps = [
        ...pingSteps(bids),
        ...skipSteps(skipped, occurredAt, busyTargets(doc.steps)),
        unroutedStep(event.data),
      ]
      const { reason, sentence } = unrouted
      return {
        ...addToStory(doc, storyEventOf(event, 'system', 'call.unrouted'), ...steps),
        pings: [...doc.pings, ...pingsOf(bids, { ...doc.asked, callId })],
        summary: reasonSentence(reason, sentence),
      }
    },
    CallEnded(doc, event) {
      const { occurredAt, outcome, status, sentence } = event.data
      const source = status === 'terminated' ? 'system' : 'carrier'
      return {
        ...addToStory(doc, storyEventOf(event, source, 'call.ended'), endStep(event.data)),
        summary: outcome === 'unrouted' ? doc.summary : sentence,
        attempts: doc.attempts.map((each) => (each.endedAt === null ? { ...each, endedAt: occurredAt } : each)),
      }
    },
    CallSettled(doc, event) {
      const { targetId, sentence } = event.data
      return {
        ...addToStory(doc, storyEventOf(event, 'system', 'call.settled'), settlementStep(event.data, doc.terms)),
        summary: targetId === null ? doc.summary : sentence,
      }
    },
    ConversionPosted: (doc, event) => ({
      ...addToStory(doc, storyEventOf(event, 'system', 'conversion.posted')),
      conversionNote: event.data.note ?? doc.conversionNote,
    }),
    CallAdjusted(doc, event) {
      const { adjustmentId, occurredAt, source, before, after, reason, corrections } = event.data
      const made = { id: adjustmentId, at: occurredAt, actor: event.meta.actor, source, before, after, reason }
      return {
        ...addToStory(doc, storyEventOf(event, 'system', 'call.adjusted')),
        corrections,
        adjustments: [...doc.adjustments, made],
        conversionNote: before.converted === after.converted ? doc.conversionNote : reason,
      }
    },
    CallTagged: (doc, event) => addToStory(doc, storyEventOf(event, 'system', 'call.tagged')),
    BooksChanged: (doc, event) => ({
      ...addToStory(doc, storyEventOf(event, 'system', 'books.changed'), booksChangedStep(event.data, doc.terms)),
      summary: isUnrouted(doc) ? doc.summary : event.data.sentence,
    }),
    UsageCharged: (doc, event) => addToStory(doc, storyEventOf(event, 'system', 'usage.charged')),
    RecordingSaved: (doc, event) => addToStory(doc, storyEventOf(event, 'carrier', 'recording.saved')),
  },
})
