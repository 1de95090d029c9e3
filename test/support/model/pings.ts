import { isDeepStrictEqual } from 'node:util'
import type { OfferModel, PingModel } from './auction-state.ts'
import { payoutOf } from './books.ts'
import { type GateInputModel, isRepeatCaller, stateOfCaller } from './callers.ts'
import { skipReason } from './eligibility.ts'
import { isBlocked, isCampaignCapped } from './gates.ts'
import { opensAt } from './hours.ts'
import { freeNumber, type LaneName, liveOffers } from './offers.ts'
import { legalOrders, planOf } from './plan.ts'
import { type CampaignModel, type LaneModel, laneName, type Model, need } from './state.ts'
import { hasSentBefore, isLaneFull, termsOf } from './terms.ts'
import type { PlannedModel, TermsModel } from './terms-state.ts'

/** A ping, as its publisher sends it. */
export interface PingInputModel extends LaneName {
  readonly id: string
  readonly singleStep: boolean
  readonly callerNumber: string | null
  readonly callerState: string | null
  readonly floorCents: number | null
  readonly tags: Readonly<Record<string, string>>
}

/** A ping under judgement, with its campaign, lane and caller. */
interface JudgedPing extends GateInputModel {
  readonly campaign: CampaignModel
  readonly publisher: string
  readonly lane: LaneModel
  readonly callerNumber: string | null
}

const isCallerNeeded = ({ campaign, lane }: JudgedPing) =>
  campaign.anonymousPolicy === 'block' ||
  (campaign.repeatCallerPolicy === 'block' && campaign.dedupeWindowSeconds > 0) ||
  lane.dedupeWindowSeconds > 0

const isOutside = (states: readonly string[] | null, state: string | null) =>
  states !== null && states.length > 0 && (state === null || !states.includes(state))

/** The rules on a ping, each with the reason word of its refusal, in their order (Supplement §7, No-bid codes). */
const RULES: readonly (readonly [string, (model: Model, ping: JudgedPing) => boolean])[] = [
  ['workspace_inactive', ({ subscription, balanceCents }) => subscription !== 'active' || balanceCents <= 0],
  ['campaign_not_live', (_model, { campaign }) => campaign.status !== 'live'],
  ['publisher_not_live', ({ publishers }, { publisher }) => need(publishers, publisher).status !== 'live'],
  ['lane_inactive', (_model, { lane }) => !lane.active],
  ['caller_id_invalid', (_model, { callerNumber, caller }) => callerNumber !== null && caller === null],
  ['caller_id_required', (_model, ping) => ping.callerNumber === null && isCallerNeeded(ping)],
  ['caller_blocked', isBlocked],
  ['closed', (_model, { campaign, lane, at }) => [campaign, lane].some((each) => !opensAt(each.hoursSchedule, at))],
  ['capped', (model, ping) => isCampaignCapped(model, ping) || (ping.lane.blockWhenCapped && isLaneFull(model, ping))],
  [
    'state_not_targeted',
    (_m, { campaign, lane, callerState: state }) => [campaign, lane].some(({ states }) => isOutside(states, state)),
  ],
  [
    'duplicate',
    (model, ping) =>
      (ping.campaign.repeatCallerPolicy === 'block' && isRepeatCaller(model, ping)) ||
      hasSentBefore(model, ping.lane, ping),
  ],
]

const knownNumber = (callerNumber: string | null) => (callerNumber?.startsWith('+') ? callerNumber : null)

/** The state of a caller: what the publisher says, else that of the area code. */
export const stateOfPing = ({ callerNumber, callerState }: Pick<PingInputModel, 'callerNumber' | 'callerState'>) =>
  callerState ?? stateOfCaller(knownNumber(callerNumber))

/** The records and values by which a ping is judged now. */
export function judgementOf(
  model: Model,
  ping: LaneName & Pick<PingInputModel, 'callerNumber' | 'callerState'>,
): JudgedPing {
  const { campaign, publisher, callerNumber } = ping
  return {
    campaign: need(model.campaigns, campaign),
    publisher,
    lane: need(model.lanes, laneName(campaign, publisher)),
    callerNumber,
    caller: knownNumber(callerNumber),
    callerState: stateOfPing(ping),
    at: model.now,
  }
}

/** Why a ping is refused before any target is considered; null when it is not. */
export function refusalOf(model: Model, ping: JudgedPing): string | null {
  return RULES.find(([, refuses]) => refuses(model, ping))?.[0] ?? null
}

/** The answer to a ping, and what it was found by. */
export interface AnswerModel extends Pick<PingModel, 'outcome' | 'reason' | 'number'> {
  readonly skipped: readonly (readonly [string, string])[]
  /** The winner, then the others in the order of the auction. */
  readonly plan: readonly PlannedModel[]
  /** The auction that made the offer. */
  readonly offerOf: string | null
  readonly payoutCents: number | null
  readonly thresholdSeconds: number | null
  readonly expiresAt: number | null
  readonly terms: TermsModel | null
}

const OFFER_LIFE = 60_000

function noBid(reason: string, skipped: AnswerModel['skipped'] = []): AnswerModel {
  const outcome = reason === 'caller_blocked' ? 'blocked' : 'no_bid'
  const nothing = {
    number: null,
    offerOf: null,
    payoutCents: null,
    thresholdSeconds: null,
    expiresAt: null,
    terms: null,
  }
  return { outcome, reason, skipped, plan: [], ...nothing }
}

/** A ping that passed the rules, with the number that it may be offered, and the caller's own live offer on the lane. */
interface PassedPing extends Pick<PingInputModel, 'id' | 'floorCents'> {
  readonly namesNumber: boolean
  readonly number: string | null
  readonly terms: TermsModel
  readonly own: OfferModel | null
}

/** The answer that repeats the caller's live offer, of the same terms and not below the floor; null without one. */
function repeatedAnswer({ own, terms, floorCents, namesNumber, ...ping }: PassedPing): AnswerModel | null {
  if (own === null || !isDeepStrictEqual(own.terms, terms) || own.payoutCents < (floorCents ?? 0)) return null
  const number = own.number ?? (namesNumber ? ping.number : null)
  if (namesNumber && number === null) return null
  const { id: offerOf, payoutCents, thresholdSeconds, expiresAt } = own
  const offered = { offerOf, payoutCents, thresholdSeconds, expiresAt, terms }
  return { outcome: 'cached', reason: null, number, skipped: [], plan: [], ...offered }
}

/** What an auction over a plan in a given order comes to (Supplement §7, An auction walks the campaign's plan). */
function answerInOrder(
  { id: offerOf, terms, floorCents, number, namesNumber }: PassedPing,
  plan: readonly PlannedModel[],
  reasons: ReadonlyMap<string, string | null>,
  now: number,
): AnswerModel {
  const winner = plan.find(({ target }) => reasons.get(target) === null)
  const before = winner ? plan.slice(0, plan.indexOf(winner)) : plan
  const skipped = before.map(({ target }) => [target, reasons.get(target) ?? ''] as const)
  if (!winner) return noBid('no_targets', skipped)
  const payoutCents = payoutOf(terms, winner.revenueCents)
  if (payoutCents < (floorCents ?? 0)) return noBid('below_floor', skipped)
  if (number === null) return noBid('no_number', skipped)
  const { thresholdSeconds } = winner
  return {
    outcome: 'won',
    reason: null,
    number: namesNumber ? number : null,
    skipped,
    plan: [winner, ...plan.filter((planned) => planned !== winner)],
    offerOf,
    payoutCents,
    thresholdSeconds,
    expiresAt: now + OFFER_LIFE,
    terms,
  }
}

/** The answers to a ping that the documents allow: one for each order that chance may give the plan. */
export function possibleAnswers(model: Model, ping: PingInputModel): readonly AnswerModel[] {
  const judged = judgementOf(model, ping)
  const { caller, callerState, campaign, at } = judged
  const own = liveOffers(model, ping).find((offer) => caller !== null && offer.caller === caller) ?? null
  // What the caller's own post holds is not counted against its ping.
  const others = { ...model, offers: model.offers.filter((offer) => offer !== own) }
  const refusal = refusalOf(others, judged)
  if (refusal !== null) return [noBid(refusal)]
  const { id, floorCents } = ping
  // A single-step ping has no post, and the call of a hidden caller is known by its number.
  const namesNumber = ping.singleStep || caller === null
  const passed = { id, floorCents, namesNumber, number: freeNumber(model, ping), terms: termsOf(others, judged), own }
  const repeated = repeatedAnswer(passed)
  if (repeated) return [repeated]
  const call = { caller, callerState, routing: { states: campaign.states }, arrivalTags: ping.tags }
  const plan = planOf(model, campaign)
  const reasons = new Map(plan.map(({ target }) => [target, skipReason(others, target, { call, at })]))
  return legalOrders(model, campaign).map((order) => answerInOrder(passed, order, reasons, at))
}

/** Records a ping with the answer that was given. */
export function recordPing(model: Model, ping: PingInputModel, answer: AnswerModel): PingModel {
  const { id, campaign, publisher, singleStep, tags } = ping
  const { outcome, reason, number, plan, offerOf, payoutCents, thresholdSeconds, expiresAt, terms } = answer
  const { caller, callerState, at } = judgementOf(model, ping)
  if (outcome === 'won' && payoutCents !== null && thresholdSeconds !== null && expiresAt !== null && terms !== null) {
    const from = { id, campaign, publisher, singleStep, caller, callerState, tags }
    const offered = { number, plan, terms, payoutCents, thresholdSeconds, madeAt: at, expiresAt }
    model.offers.push({ ...from, ...offered, post: null, end: null })
  }
  const offer = model.offers.find((each) => each.id === offerOf) ?? null
  const recorded = { id, campaign, publisher, caller, outcome, reason, number, offer }
  model.pings.push(recorded)
  return recorded
}
