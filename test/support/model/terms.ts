import { centsByDay, isUsedUp, usedCaps } from '../oracle/slots.ts'
import { type GateInputModel, isInside, latest } from './callers.ts'
import { slotsOf } from './counts.ts'
import { opensAt } from './hours.ts'
import { dayOf, iso, type LaneModel, laneName, type Model, need } from './state.ts'
import type { TermsModel } from './terms-state.ts'

const RATES = { starter: 5, growth: 4, scale: 3 } as const

/** A call or ping on a lane. */
interface LaneInputModel extends GateInputModel {
  readonly lane: LaneModel
}

/** Whether a lane has no room for a call at an instant, or less of its daily payout left than the call surely earns. */
export function isLaneFull(model: Model, { lane, campaign, at }: LaneInputModel): boolean {
  const { payoutMode, payoutCents, minPayoutCents } = payoutIn(lane, campaign)
  const leastCents = (payoutMode === 'fixed' ? payoutCents : minPayoutCents) ?? 0
  const slots = slotsOf(model, { kind: 'lane', name: laneName(lane.campaign, lane.publisher) })
  const left = lane.dailyPayoutCapCents - (centsByDay(slots).get(dayOf(at)) ?? 0)
  const unpayable = lane.dailyPayoutCapCents > 0 && (left <= 0 || left < leastCents)
  return unpayable || usedCaps(slots, lane, iso(at)).some(isUsedUp)
}

/** Whether the same lane sent the caller within its window. */
export function hasSentBefore({ calls }: Model, lane: LaneModel, { caller, at }: GateInputModel): boolean {
  if (caller === null) return false
  const { campaign, publisher, dedupeWindowSeconds } = lane
  const sent = calls.filter(
    (call) => call.admitted && call.campaign === campaign && call.publisher === publisher && call.caller === caller,
  )
  return isInside(latest(sent.map((call) => call.at)), dedupeWindowSeconds, at)
}

/** Why a publisher earns nothing from a call that arrives now: the first reason that applies (Supplement §4). */
function withheldReason(model: Model, input: GateInputModel): string | null {
  const { campaign, publisher, callerState: state, at } = input
  const lane = campaign && publisher ? model.lanes.get(laneName(campaign.name, publisher)) : undefined
  if (!lane || !publisher) return null
  if (need(model.publishers, publisher).status !== 'live') return 'publisher_not_live'
  if (!opensAt(lane.hoursSchedule, at)) return 'lane_closed'
  if (lane.states?.length && !(state && lane.states.includes(state))) return 'lane_state'
  if (isLaneFull(model, { ...input, lane })) return 'lane_capped'
  return hasSentBefore(model, lane, input) ? 'duplicate' : null
}

const UNPAID = {
  payoutMode: 'none',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
} as const

/** The payout terms: those of the lane, or the campaign's where the lane inherits them. */
function payoutIn(lane: LaneModel | undefined, campaign: GateInputModel['campaign']) {
  const from = lane && campaign ? (lane.payoutMode === 'inherit' ? campaign.payout : lane) : null
  if (!from) return UNPAID
  const { payoutCents, revsharePct, minPayoutCents, maxPayoutCents } = from
  const mode = 'mode' in from ? from.mode : from.payoutMode
  const payoutMode = mode === 'fixed' ? ('fixed' as const) : ('revshare' as const)
  return { payoutMode, payoutCents, revsharePct, minPayoutCents, maxPayoutCents }
}

/** The terms in force when a call arrives. */
export function termsOf(model: Model, input: GateInputModel): TermsModel {
  const { campaign, publisher } = input
  const lane = campaign && publisher ? model.lanes.get(laneName(campaign.name, publisher)) : undefined
  return {
    ...payoutIn(lane, campaign),
    payoutWithheld: withheldReason(model, input),
    bufferSeconds: lane?.bufferSeconds ?? campaign?.bufferSeconds ?? 0,
    usageRateCents: RATES[model.plan],
    promise: null,
  }
}
