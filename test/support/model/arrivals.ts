import type { OfferModel } from './auction-state.ts'
import { preferredTarget, stateOfCaller } from './callers.ts'
import { planAndSearch } from './calls.ts'
import { evaluateGates } from './gates.ts'
import { claimedOffer } from './offers.ts'
import { planOf } from './plan.ts'
import { type CallModel, type Model, need } from './state.ts'
import { termsOf } from './terms.ts'
import type { TermsModel } from './terms-state.ts'

const SECOND = 1_000

/** The announcement of a call. */
export interface ArrivalModel {
  readonly id: string
  readonly dialed: string
  readonly caller: string | null
  /** The lane of the routing key that the call carries. */
  readonly key: { readonly campaign: string; readonly publisher: string } | null
  readonly at: number
}

function observedTags({ dialed, caller }: ArrivalModel, publisher: string | null): Readonly<Record<string, string>> {
  const area = caller?.startsWith('+1') ? caller.slice(2, 5) : null
  const state = stateOfCaller(caller)
  return {
    dialedNumber: dialed,
    ...(publisher && { publisher }),
    ...(area && { callerAreaCode: area }),
    ...(state && { callerState: state }),
  }
}

/** The terms of a call that claims an offer are those of its ping; its buffer and rate are those of its arrival. */
function wonTerms(terms: TermsModel, offer: OfferModel | null): TermsModel {
  if (offer === null) return terms
  const { bufferSeconds, usageRateCents } = terms
  const { payoutCents, thresholdSeconds } = offer
  return { ...offer.terms, bufferSeconds, usageRateCents, promise: { payoutCents, thresholdSeconds } }
}

/** A call arrives. `order` is the order that chance gave the plan. */
export function arrive(model: Model, arriving: ArrivalModel, order: readonly string[]) {
  const { id, dialed, caller, at, key } = arriving
  const claimed = claimedOffer(model, arriving)
  const offer = claimed?.offer ?? null
  // The slots that its post held are free for the call.
  if (offer) offer.end = 'claimed'
  const { campaign: name, publisher } = offer ?? key ?? need(model.numbers, dialed)
  const campaign = name === null ? null : need(model.campaigns, name)
  const callerState = offer?.callerState ?? stateOfCaller(caller)
  const knock = { caller, callerState, campaign, publisher: campaign && publisher, at }
  const passage = evaluateGates(model, knock)
  const first = preferredTarget(model, knock)
  const tags = { ...offer?.tags, ...observedTags(arriving, publisher) }
  const call: CallModel = {
    id,
    ref: `CA-${String(model.calls.length + 1).padStart(10, '0')}`,
    dialed,
    caller,
    callerState,
    campaign: name,
    publisher,
    attribution: claimed?.attribution ?? (key ? 'routing_key' : name === null ? 'direct' : 'tracking_number'),
    offer,
    at,
    heardAt: model.now,
    admitted: passage.failed === null,
    terms: wonTerms(termsOf(model, knock), offer),
    routing: {
      dialTimeoutSeconds: campaign?.dialTimeoutSeconds ?? 0,
      states: campaign?.states ?? [],
      unroutedAction: campaign?.unroutedAction ?? 'hangup',
      deadline: at + (campaign?.failoverBudgetSeconds ?? 0) * SECOND,
    },
    plan: [],
    busyAtFirst: [],
    claims: [],
    skips: [],
    unrouted: passage.reason,
    answeredAt: null,
    end: null,
    arrivalTags: tags,
    tags,
    posts: [],
    corrections: {},
    settledAt: null,
    convertedAt: null,
    source: null,
    converted: false,
    revenueCents: 0,
    payoutCents: 0,
    usageCents: 0,
    usageChargedAt: null,
  }
  if (passage.failed !== null || campaign === null) {
    model.calls.push(call)
    return { call, passage, first, found: { skipped: [], unrouted: passage.reason } }
  }
  const worth = new Map(planOf(model, campaign).map((planned) => [planned.target, planned]))
  call.plan = offer?.plan ?? order.map((target) => need(worth, target))
  model.calls.push(call)
  return { call, passage, first, found: planAndSearch(model, call, at) }
}
