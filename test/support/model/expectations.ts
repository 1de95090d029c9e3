import { expect } from 'vitest'
import { type CallRecord, callRecord } from '../../../src/domain/calls/call-record.ts'
import { tagsOf } from '../../../src/domain/calls/tags.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { answeredClaim } from './books.ts'
import type { SearchModel } from './calls.ts'
import { ringingClaim } from './calls.ts'
import { type CallModel, iso } from './state.ts'
import type { TermsModel } from './terms-state.ts'

/** The ledger's decision in its events; null when they hold none. */
export function decisionOf(events: readonly RecordedEvent[]) {
  for (const { type, data } of events) {
    if (type === 'CallAdmitted') return { ...ledgerEvents.CallAdmitted.parse(data), type } as const
    if (type === 'CallRefused') {
      return { ...ledgerEvents.CallRefused.parse(data), type, plan: [], skipped: [], claim: null } as const
    }
    if (type === 'TargetClaimed') return { ...ledgerEvents.TargetClaimed.parse(data), type, unrouted: null } as const
    if (type === 'PlanSpent') return { ...ledgerEvents.PlanSpent.parse(data), type, claim: null } as const
  }
  return null
}
export type Decision = NonNullable<ReturnType<typeof decisionOf>>

/** Terms as the platform records them. */
export const recordedTerms = ({ payoutMode, payoutCents, revsharePct, ...more }: TermsModel) => ({
  payoutMode,
  payoutCents,
  revsharePct,
  minPayoutCents: more.minPayoutCents,
  maxPayoutCents: more.maxPayoutCents,
  payoutWithheld: more.payoutWithheld,
  bufferSeconds: more.bufferSeconds,
  usageRateCents: more.usageRateCents,
  ...(more.promise && {
    promise: { payoutCents: more.promise.payoutCents, durationThresholdSeconds: more.promise.thresholdSeconds },
  }),
})

/** Expects that the system claimed and skipped the same targets as the model. */
export function expectSearch(decision: Decision | null, call: CallModel, { skipped, unrouted }: SearchModel): void {
  const claim = ringingClaim(call)
  const expected = {
    skipped,
    unrouted,
    claim: claim && {
      attempt: claim.attempt,
      target: claim.target,
      buyer: claim.buyer,
      ringSeconds: claim.ringSeconds,
      revenueCents: claim.revenueCents,
      durationThresholdSeconds: claim.thresholdSeconds,
      capCountsOn: claim.countsOn,
      occurredAt: iso(claim.at),
    },
  }
  const received = decision?.claim
  const decided = decision && {
    skipped: decision.skipped.map(({ targetName, reason }) => [targetName, reason]),
    unrouted: decision.unrouted?.reason ?? null,
    claim: received && {
      attempt: received.attempt,
      target: received.target.name,
      buyer: received.buyer.name,
      ringSeconds: received.ringSeconds,
      revenueCents: received.revenueCents,
      durationThresholdSeconds: received.durationThresholdSeconds,
      capCountsOn: received.capCountsOn,
      occurredAt: received.occurredAt,
    },
  }
  expect(decided).toEqual(expected)
}

/** Expects the same gates, terms and reference for an arrival, and the same search. */
export function expectArrival(
  decision: Decision,
  call: CallModel,
  passage: { readonly passed: readonly string[]; readonly failed: string | null },
  found: SearchModel,
): void {
  if (!('gates' in decision)) throw new Error(`${decision.type} is no decision on an arrival.`)
  const { arrival, gates, terms } = decision
  const { ref, campaign, publisher, callerState, attribution, auction } = arrival
  expect({
    gates,
    ref,
    callerState,
    attribution,
    offer: auction?.id ?? null,
    campaign: campaign?.name ?? null,
    publisher: publisher?.name ?? null,
  }).toEqual({
    gates: { passed: passage.passed, failed: passage.failed },
    ref: call.ref,
    callerState: call.callerState,
    attribution: call.attribution,
    offer: call.offer?.id ?? null,
    campaign: call.campaign,
    publisher: call.publisher,
  })
  expect(terms).toEqual(recordedTerms(call.terms))
  expectSearch(decision, call, found)
}

function statusOf(call: CallModel): string {
  if (call.end) return call.end.status
  if (call.answeredAt !== null) return 'in_progress'
  return ringingClaim(call) ? 'ringing' : 'routing'
}

function outcomeOf(call: CallModel): string {
  if (!call.end) return 'live'
  if (call.converted) return 'converted'
  if (call.answeredAt !== null) return 'connected'
  return call.unrouted === null ? 'missed' : 'unrouted'
}

/** The expected figures of a call in the call log. */
export function rowOf(call: CallModel) {
  const { end, settledAt, converted, revenueCents, payoutCents, unrouted } = call
  const last = answeredClaim(call) ?? call.claims.at(-1)
  return {
    ref: call.ref,
    startedAt: iso(call.at),
    status: statusOf(call),
    outcome: outcomeOf(call),
    callerNumber: call.caller,
    dialedNumber: call.dialed,
    campaign: call.campaign,
    publisher: call.publisher,
    target: last?.target ?? null,
    buyer: unrouted === null ? (last?.buyer ?? null) : null,
    reasonCode: unrouted,
    attemptCount: call.claims.length,
    ringSeconds: call.claims.reduce((sum, { rangSeconds }) => sum + rangSeconds, 0),
    talkSeconds: end?.talkSeconds ?? 0,
    answeredAt: call.answeredAt && iso(call.answeredAt),
    endedAt: end && iso(end.at),
    hungUpBy: end?.by ?? null,
    settledAt: settledAt && iso(settledAt),
    converted,
    convertedAt: call.convertedAt && iso(call.convertedAt),
    conversionSource: call.source,
    revenueCents,
    payoutCents,
    profitCents: revenueCents - payoutCents,
    tags: call.tags,
    usageCents: call.usageChargedAt === null ? 0 : call.usageCents,
    forwarded: unrouted !== null && call.routing.unroutedAction === 'forward',
  }
}

/** The figures of a call that the call log shows. */
export function shownRowOf(doc: unknown): ReturnType<typeof rowOf> {
  const record: CallRecord = callRecord.parse(doc)
  const { ref, startedAt, status, outcome, callerNumber, dialedNumber, talkSeconds, ringSeconds, hungUpBy } = record
  const { converted, revenueCents, payoutCents, profitCents, usageCents, answeredAt, endedAt, settledAt } = record
  return {
    ref,
    startedAt,
    status,
    outcome,
    callerNumber,
    dialedNumber,
    campaign: record.campaign?.name ?? null,
    publisher: record.publisher?.name ?? null,
    target: record.target?.name ?? null,
    buyer: record.buyer?.name ?? null,
    reasonCode: record.reasonCode,
    attemptCount: record.attemptCount,
    ringSeconds,
    talkSeconds,
    answeredAt,
    endedAt,
    hungUpBy,
    settledAt,
    converted,
    convertedAt: record.convertedAt,
    conversionSource: record.conversionSource,
    revenueCents,
    payoutCents,
    profitCents,
    tags: tagsOf(record.tags),
    usageCents,
    forwarded: record.deliveryMode === 'forward',
  }
}
