import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import type { Bid } from '../bidding/bid.ts'
import { claimedPing, type OutboundPing, pingForCall } from '../bidding/outbound-ping.ts'
import { figures } from '../money/figures.ts'
import type { Skip, Terms } from '../routing/decision.ts'
import { withheldBecause } from '../routing/payout-withholding.ts'
import { reasonOf, reasonSentence } from '../routing/reasons.ts'
import { dialOutcome } from '../shared/call-codes.ts'
import { actor } from '../shared/fields.ts'
import { formatDollars, maskDestination, pluralize } from '../shared/format.ts'
import type { callEvents } from './call.ts'

/** The steps of a call's waterfall (Document 2, Story). */
export const storyStep = z
  .object({
    at: instant,
    step: z.enum([
      'incoming',
      'gates',
      'plan',
      'skipped',
      'ping',
      'dial',
      'result',
      'connected',
      'unrouted',
      'ended',
      'settled',
    ]),
    title: z.string(),
    sentence: z.string(),
    tone: z.enum(['info', 'success', 'warning', 'danger']),
    detail: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'StoryStep' })
export type StoryStep = Readonly<z.infer<typeof storyStep>>

/** One dial; `outcome` and `endedAt` are null while it is open. */
export const storyAttempt = z.object({
  attemptNo: z.int(),
  startedAt: instant,
  endedAt: instant.nullable(),
  rangSeconds: z.int(),
  outcome: z.enum(['answered', ...dialOutcome.options]).nullable(),
  /** Sentence of the outcome. */
  result: z.string(),
  targetId: id,
  targetName: z.string(),
  buyerId: id,
  buyerName: z.string(),
  deliveryMode: z.enum(['pstn', 'sip']),
  /** Masked except for the trailing digits. */
  destination: z.string(),
  sipCode: z.int().nullable(),
  whisperAccepted: z.boolean().nullable(),
})
export type StoryAttempt = Readonly<z.infer<typeof storyAttempt>>

/** An event of a call, without its payload. */
export const storyEvent = z
  .object({
    id: z.string(),
    at: instant,
    source: z.enum(['carrier', 'system']),
    type: z.string(),
  })
  .meta({ id: 'StoryEvent' })
export type StoryEvent = Readonly<z.infer<typeof storyEvent>>

/** An adjustment of figures by a person or a key (Supplement §6, `adjust`). */
export const adjustment = z
  .object({
    id,
    at: instant,
    actor,
    source: z.enum(['key', 'user']),
    before: figures,
    after: figures,
    reason: z.string(),
  })
  .meta({ id: 'Adjustment' })

type DataOf<Type extends keyof typeof callEvents> = z.infer<(typeof callEvents)[Type]>

/** What a publisher was promised for the call, as a sentence; empty for one that was not won at auction. */
function offerSentence({ offer }: DataOf<'CallArrived'>): string {
  if (!offer) return ''
  const { ref, target, payoutCents, durationThresholdSeconds } = offer
  const promised = `${formatDollars(payoutCents)} after ${pluralize(durationThresholdSeconds, 'second')} of talk`
  return ` It was won at auction ${ref} by target ${target.name}; the publisher was promised ${promised}.`
}

function incomingStep(data: DataOf<'CallArrived'>): StoryStep {
  const { arrival, terms, offer } = data
  const { occurredAt: at, caller, callerState, dialedNumber, campaign, publisher, attribution } = arrival
  const onCampaign = campaign ? ` for campaign ${campaign.name}` : ''
  const byPublisher = publisher ? `, sent by publisher ${publisher.name}` : ''
  const unpaid = terms.payoutWithheld
    ? withheldBecause(terms.payoutWithheld)
    : publisher && campaign && terms.payoutMode === 'none' && 'the publisher has no lane on the campaign'
  const withheld = unpaid ? ` The call earns its publisher no payout: ${unpaid}.` : ''
  return {
    at,
    step: 'incoming',
    title: 'Call arrived',
    sentence: `${caller ?? 'A hidden caller'} called ${dialedNumber}${onCampaign}${byPublisher}.${offerSentence(data)}${withheld}`,
    tone: 'info',
    detail: {
      callerNumber: caller,
      callerState,
      dialedNumber,
      campaign,
      publisher,
      attribution,
      ...(offer && {
        auction: { id: offer.auctionId, ref: offer.ref },
        payoutCents: offer.payoutCents,
        durationThresholdSeconds: offer.durationThresholdSeconds,
      }),
    },
  }
}

function gatesStep({ arrival: { occurredAt: at }, gates }: DataOf<'CallArrived'>): StoryStep {
  const { passed, failed } = gates
  return {
    at,
    step: 'gates',
    title: failed ? 'Turned away' : 'Gates passed',
    sentence: failed
      ? `The ${failed.replaceAll('_', ' ')} gate turned the caller away.`
      : `The caller passed ${pluralize(passed.length, 'gate')}.`,
    tone: failed ? 'danger' : 'success',
    detail: { passed, failed },
  }
}

function planStep({ arrival: { occurredAt: at }, plan }: DataOf<'CallArrived'>): StoryStep {
  const names = plan.map(({ name }) => name).join(', ')
  return {
    at,
    step: 'plan',
    title: 'Routing plan',
    sentence:
      plan.length > 0 ? `${pluralize(plan.length, 'target')} on the plan: ${names}.` : 'The plan has no targets.',
    tone: plan.length > 0 ? 'info' : 'warning',
    detail: { targets: plan },
  }
}

/** One step for each request to a bidder. */
export function pingSteps(bids: readonly Bid[] = []): readonly StoryStep[] {
  return bids.map(({ bidId, target, status, sentence, answeredAt: at, ...bid }) => {
    const { latencyMs, httpStatus, bidCents, rawBidCents, rejectCode, rejectReason } = bid
    const figures = { latencyMs, httpStatus, bidCents, rawBidCents, rejectCode, rejectReason }
    return {
      at,
      step: 'ping',
      title: `Asked ${target.name} for a price`,
      sentence,
      tone: status === 'bid' ? 'info' : 'warning',
      detail: { bidId, targetId: target.id, targetName: target.name, status, ...figures },
    }
  })
}

/** Steps of an arrival; a call refused at the gates has no plan. */
export function arrivalSteps(data: DataOf<'CallArrived'>): readonly StoryStep[] {
  const planned = data.gates.failed === null ? [planStep(data)] : []
  return [incomingStep(data), ...pingSteps(data.offer?.bids), gatesStep(data), ...planned, ...pingSteps(data.bids)]
}

/** The requests of the auction that a call was won at, as its story lists them. */
export function offerPings({ offer, arrival }: DataOf<'CallArrived'>): readonly OutboundPing[] {
  if (!offer) return []
  const { auctionId: id, ref, bidId, bids = [] } = offer
  return bids.map((given) => {
    const row = pingForCall(given, arrival)
    const own = { ...row, origin: 'publisher' as const, auction: { id, ref } }
    return given.bidId === bidId ? claimedPing(own, arrival.callId) : own
  })
}

/** Targets that were busy when the plan was made: a later step of theirs is of the second try (Supplement §6, Dial). */
export function busyTargets(steps: readonly StoryStep[]): ReadonlySet<unknown> {
  const busy = steps.filter(({ step, detail }) => step === 'skipped' && detail?.reason === 'concurrency')
  return new Set(busy.map(({ detail }) => detail?.targetId))
}

/** One step for each skipped target. `busy` has the targets that are tried for the second time. */
export function skipSteps(skipped: readonly Skip[], at: string, busy: ReadonlySet<unknown>): readonly StoryStep[] {
  return skipped.map(({ targetId, targetName, reason, figures, ...skip }) => {
    const sentence = reasonSentence(reason, skip.sentence)
    const isSecond = busy.has(targetId)
    return {
      at,
      step: 'skipped',
      title: isSecond ? `Skipped ${targetName} again` : `Skipped ${targetName}`,
      sentence: isSecond ? `Tried once more after the rest of the plan: ${sentence}` : sentence,
      tone: 'warning',
      detail: { ...figures, targetId, targetName, reason, ...reasonOf(reason) },
    }
  })
}

/** Step of a dial. `busy` has the targets that are tried for the second time. */
export function dialStep({ claim }: DataOf<'TargetDialed'>, busy: ReadonlySet<unknown>): StoryStep {
  const { attempt, target, buyer, deliveryMode, ringSeconds, occurredAt } = claim
  const destination = maskDestination(claim.destination)
  const sentence = `Ringing ${target.name} at ${destination} for up to ${pluralize(ringSeconds, 'second')}.`
  return {
    at: occurredAt,
    step: 'dial',
    title: `Dialling ${target.name}`,
    sentence: busy.has(target.id)
      ? `${target.name} was busy when the plan was made and is free now. ${sentence}`
      : sentence,
    tone: 'info',
    detail: { attemptNo: attempt, target, buyer, deliveryMode, destination, ringSeconds },
  }
}

/** Step of a dial that ended without an answer. */
export function failureStep({ occurredAt, attempt, target, ...failure }: DataOf<'TargetFailed'>): StoryStep {
  const { outcome, sipCode, rangSeconds, sentence } = failure
  return {
    at: occurredAt,
    step: 'result',
    title: `${target.name} did not take the call`,
    sentence,
    tone: 'warning',
    detail: { attemptNo: attempt, targetId: target.id, outcome, sipCode, rangSeconds },
  }
}

/** Sentence of an answered dial. */
export function answerSentence({ target, rangSeconds }: DataOf<'TargetAnswered'>): string {
  return `${target.name} answered after ${pluralize(rangSeconds, 'second')}.`
}

/** Step of an answered dial. */
export function answerStep(data: DataOf<'TargetAnswered'>): StoryStep {
  const { occurredAt, attempt, target, buyer, rangSeconds, whisperAccepted } = data
  return {
    at: occurredAt,
    step: 'connected',
    title: `Connected to ${buyer.name}`,
    sentence: answerSentence(data),
    tone: 'success',
    detail: { attemptNo: attempt, target, buyer, rangSeconds, whisperAccepted },
  }
}

/** Step of a call that no target takes. */
export function unroutedStep({ occurredAt, unrouted }: DataOf<'CallUnrouted'>): StoryStep {
  const { reason, sentence, action, message, forwardE164 } = unrouted
  const { label, owner } = reasonOf(reason)
  return {
    at: occurredAt,
    step: 'unrouted',
    title: label,
    sentence: reasonSentence(reason, sentence),
    tone: 'danger',
    detail: { reason, label, owner, action, message, forwardedTo: forwardE164 && maskDestination(forwardE164) },
  }
}

/** Step of the end of a call. */
export function endStep({ occurredAt, status, hungUpBy, talkSeconds, sentence }: DataOf<'CallEnded'>): StoryStep {
  const detail = { status, hungUpBy, talkSeconds }
  return { at: occurredAt, step: 'ended', title: 'Call ended', sentence, tone: 'info', detail }
}

/** The sentence of books, and why a converted call pays nothing to its publisher. */
function booksSentence(
  { converted, payoutCents, sentence }: Pick<DataOf<'CallSettled'>, 'converted' | 'payoutCents' | 'sentence'>,
  { payoutWithheld }: Terms,
): string {
  if (!converted || payoutCents > 0 || payoutWithheld === null) return sentence
  return `${sentence} The payout is withheld: ${withheldBecause(payoutWithheld)}.`
}

/** Step of a settlement. */
export function settlementStep(data: DataOf<'CallSettled'>, terms: Terms): StoryStep {
  const { occurredAt, converted, sentence: _sentence, ...books } = data
  const { source, reason, revenueCents, payoutCents } = books
  return {
    at: occurredAt,
    step: 'settled',
    title: converted ? 'Converted' : 'Settled',
    sentence: booksSentence(data, terms),
    tone: converted ? 'success' : 'info',
    detail: { converted, source, reason, revenueCents, payoutCents },
  }
}

/** Step of a change of the books after the settlement. */
export function booksChangedStep(data: DataOf<'BooksChanged'>, terms: Terms): StoryStep {
  const { occurredAt, before, converted, sentence: _sentence, ...books } = data
  const { source, reason, revenueCents, payoutCents, note } = books
  return {
    at: occurredAt,
    step: 'settled',
    title: converted && !before.converted ? 'Converted' : 'Books changed',
    sentence: booksSentence(data, terms),
    tone: converted ? 'success' : 'info',
    detail: { converted, source, reason, revenueCents, payoutCents, before, note },
  }
}

/** Attempt of a dial that begins to ring. */
export function attemptOf({ claim }: DataOf<'TargetDialed'>): StoryAttempt {
  return {
    attemptNo: claim.attempt,
    startedAt: claim.occurredAt,
    endedAt: null,
    rangSeconds: 0,
    outcome: null,
    result: `${claim.target.name} is ringing.`,
    targetId: claim.target.id,
    targetName: claim.target.name,
    buyerId: claim.buyer.id,
    buyerName: claim.buyer.name,
    deliveryMode: claim.deliveryMode,
    destination: maskDestination(claim.destination),
    sipCode: null,
    whisperAccepted: null,
  }
}
