import { z } from 'zod'
import { outboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import { adjustment, type StoryAttempt, storyAttempt, storyEvent, storyStep } from '../../src/domain/calls/story.ts'
import { terms } from '../../src/domain/routing/decision.ts'
import { callOutcome, dialOutcome } from '../../src/domain/shared/call-codes.ts'
import { sipText } from '../../src/domain/shared/sip.ts'
import { frozenOf, type StoryDoc } from './call-detail.ts'
import type { CallDoc } from './call-row.ts'

const attempt = storyAttempt
  .extend({
    tone: storyStep.shape.tone,
    agentName: z.string().nullable(),
    sipText: z.string().nullable(),
    lossCode: dialOutcome.nullable(),
  })
  .meta({ id: 'StoryAttempt' })

const { payoutMode, revsharePct, minPayoutCents, maxPayoutCents, payoutWithheld, bufferSeconds } = terms.shape

/** A call's waterfall (Document 2, Story). */
export const storyShape = z
  .object({
    summary: z.object({ outcome: callOutcome, sentence: z.string() }),
    steps: z.array(storyStep).readonly(),
    attempts: z.array(attempt),
    /** Requests to bidding endpoints. */
    pings: z.array(outboundPing).readonly(),
    money: z.object({
      converted: z.boolean(),
      revenueCents: z.int(),
      payoutCents: z.int(),
      profitCents: z.int(),
      usageCents: z.int(),
      usageRateCents: z.number(),
      frozenRevenueCents: z.int().nullable(),
      frozenPayoutCents: z.int().nullable(),
      durationThresholdSeconds: z.int().nullable(),
      payoutMode,
      revsharePct,
      minPayoutCents,
      maxPayoutCents,
      payoutWithheld,
      bufferSeconds,
      adjustments: z.array(adjustment).readonly(),
    }),
    events: z.array(storyEvent).readonly(),
  })
  .meta({ id: 'Story' })
type Story = z.infer<typeof storyShape>

function attemptOf(stored: StoryAttempt): Story['attempts'][number] {
  const lost = stored.outcome === 'answered' ? null : stored.outcome
  const tone = stored.outcome === null ? 'info' : lost === null ? 'success' : 'warning'
  return { ...stored, tone, agentName: null, sipText: sipText(stored.sipCode), lossCode: lost }
}

function moneyOf(doc: CallDoc, story: StoryDoc): Story['money'] {
  const frozen = frozenOf(story)
  const { terms } = story
  return {
    converted: doc.converted,
    revenueCents: doc.revenueCents,
    payoutCents: doc.payoutCents,
    profitCents: doc.profitCents,
    usageCents: doc.usageCents,
    usageRateCents: terms.usageRateCents,
    frozenRevenueCents: frozen.revenueCents,
    frozenPayoutCents: frozen.payoutCents,
    durationThresholdSeconds: frozen.durationThresholdSeconds,
    payoutMode: terms.payoutMode,
    revsharePct: terms.revsharePct,
    minPayoutCents: terms.minPayoutCents,
    maxPayoutCents: terms.maxPayoutCents,
    payoutWithheld: terms.payoutWithheld,
    bufferSeconds: terms.bufferSeconds,
    adjustments: story.adjustments,
  }
}

/** The story of a call. */
export function storyOf(doc: CallDoc, story: StoryDoc): Story {
  return {
    summary: { outcome: doc.outcome, sentence: story.summary },
    steps: story.steps,
    attempts: story.attempts.map(attemptOf),
    pings: story.pings,
    money: moneyOf(doc, story),
    events: story.events,
  }
}
