import { centsByDay, inWindows, liveCalls, type Subject, takenSlots } from './counts.ts'
import { isSuppressed } from './health.ts'
import {
  blockName,
  type CallModel,
  type CampaignModel,
  dayOf,
  type LaneModel,
  laneName,
  type Model,
  need,
  type PlannedModel,
  routeName,
  type ScheduleModel,
  type TagFilterModel,
  type TargetModel,
  type TermsModel,
} from './state.ts'

const WEEKDAYS = new Map<string, Intl.DateTimeFormat>()

/** Whether a schedule is open: by the wall clock of its zone; a closing time is closed already. */
export function opensAt(schedule: ScheduleModel | null, at: number): boolean {
  if (schedule === null) return true
  const { tz } = schedule
  const options = { timeZone: tz, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const wall = WEEKDAYS.get(tz) ?? new Intl.DateTimeFormat('en-GB', options)
  WEEKDAYS.set(tz, wall)
  const [day = '', clock = ''] = wall.format(at).replace(',', '').split(' ')
  return (schedule.days[day.toLowerCase()] ?? []).some(([open, close]) => clock >= open && clock < close)
}

/** States by the area codes that the histories call from. */
const STATES: Readonly<Record<string, string>> = { '+1415': 'CA', '+1212': 'NY', '+1312': 'IL' }

export function stateOfCaller(caller: string | null): string | null {
  return caller === null ? null : (STATES[caller.slice(0, 5)] ?? null)
}

/** What a caller brings to the gates. */
export interface GateInputModel {
  readonly caller: string | null
  readonly campaign: CampaignModel | null
  readonly publisher: string | null
  readonly at: number
}

/** Whether an appearance lies less than a window before an instant, or as much behind it, though no longer than a call. */
function isInside(seenAt: number | null, windowSeconds: number, at: number): boolean {
  const behind = Math.min(windowSeconds, 4 * 3_600) * 1_000
  return seenAt !== null && seenAt > at - windowSeconds * 1_000 && seenAt < at + behind
}

const latest = (instants: readonly number[]) => (instants.length > 0 ? Math.max(...instants) : null)

/** Whether the campaign admitted the caller inside its window: its latest admission is what counts. */
function isRepeatCaller({ calls }: Model, { caller, campaign, at }: GateInputModel): boolean {
  if (caller === null || campaign === null) return false
  const before = calls.filter((call) => call.admitted && call.campaign === campaign.name && call.caller === caller)
  return isInside(latest(before.map((call) => call.at)), campaign.dedupeWindowSeconds, at)
}

function isCampaignCapped(model: Model, { campaign, at }: GateInputModel): boolean {
  if (!campaign) return false
  const subject: Subject = { kind: 'campaign', name: campaign.name }
  const today = inWindows(takenSlots(model, subject), at).day
  if (campaign.dailyCap > 0 && today >= campaign.dailyCap) return true
  return campaign.concurrencyCap > 0 && liveCalls(model, subject) >= campaign.concurrencyCap
}

function isNotLive(model: Model, { campaign, publisher }: GateInputModel): boolean {
  if (campaign?.status !== 'live') return true
  return publisher !== null && model.lanes.get(laneName(campaign.name, publisher))?.active === false
}

function isBlocked({ blocked }: Model, { caller, campaign }: GateInputModel): boolean {
  if (caller === null) return false
  return blocked.has(blockName(caller, null)) || (campaign !== null && blocked.has(blockName(caller, campaign.name)))
}

/** The gates in their order, each with the reason that it ends a call with (Document 1, Life of a call). */
const GATES: readonly (readonly [string, string, (model: Model, knock: GateInputModel) => boolean])[] = [
  ['subscription', 'workspace_inactive', ({ subscription }) => subscription !== 'active'],
  ['wallet', 'workspace_unfunded', ({ balanceCents }) => balanceCents <= 0],
  ['campaign_status', 'campaign_not_live', isNotLive],
  ['blocked_caller', 'caller_blocked', isBlocked],
  [
    'anonymous_caller',
    'anonymous_blocked',
    (_model, { caller, campaign }) => caller === null && campaign?.anonymousPolicy === 'block',
  ],
  ['hours', 'campaign_closed', (_model, { campaign, at }) => !opensAt(campaign?.hoursSchedule ?? null, at)],
  ['campaign_cap', 'campaign_capped', isCampaignCapped],
  [
    'repeat_caller',
    'repeat_blocked',
    (model, knock) => knock.campaign?.repeatCallerPolicy === 'block' && isRepeatCaller(model, knock),
  ],
]

/** What a caller passes, and what turns them away. */
export function evaluateGates(model: Model, knock: GateInputModel) {
  const refused = GATES.findIndex(([, , refuses]) => refuses(model, knock))
  const codes = GATES.map(([code]) => code)
  const [failed = null, reason = null] = GATES[refused] ?? []
  return { passed: refused < 0 ? codes : codes.slice(0, refused), failed, reason }
}

const RATES = { starter: 5, growth: 4, scale: 3 } as const

interface CappedLane {
  readonly name: string
  readonly caps: readonly number[]
  readonly payoutCap: number
  /** What a converted call surely earns. */
  readonly least: number
}

function isLaneCapped(model: Model, lane: CappedLane, at: number) {
  const subject: Subject = { kind: 'lane', name: lane.name }
  const { hour, day, month } = inWindows(takenSlots(model, subject), at)
  const used = [liveCalls(model, subject), hour, day, month]
  const left = lane.payoutCap - (centsByDay(model, subject).get(dayOf(at)) ?? 0)
  const unfit = lane.payoutCap > 0 && (left <= 0 || left < lane.least)
  return unfit || lane.caps.some((cap, place) => cap > 0 && (used[place] ?? 0) >= cap)
}

/** Whether the same lane sent the caller inside its window. */
function hasSentBefore({ calls }: Model, lane: LaneModel, { caller, at }: GateInputModel): boolean {
  if (caller === null) return false
  const { campaign, publisher, dedupeWindowSeconds } = lane
  const sent = calls.filter(
    (call) => call.admitted && call.campaign === campaign && call.publisher === publisher && call.caller === caller,
  )
  return isInside(latest(sent.map((call) => call.at)), dedupeWindowSeconds, at)
}

/** Why a publisher earns nothing from a call that arrives now; the first that applies (Supplement §4). */
function withheldReason(model: Model, knock: GateInputModel): string | null {
  const { campaign, publisher, caller, at } = knock
  const lane = campaign && publisher ? model.lanes.get(laneName(campaign.name, publisher)) : undefined
  if (!lane || !publisher) return null
  const state = stateOfCaller(caller)
  const { concurrencyCap, hourlyCap, dailyCap, monthlyCap, dailyPayoutCapCents } = lane
  const caps = [concurrencyCap, hourlyCap, dailyCap, monthlyCap]
  const { payoutMode, payoutCents, minPayoutCents } = payoutIn(lane, campaign)
  const least = (payoutMode === 'fixed' ? payoutCents : minPayoutCents) ?? 0
  if (need(model.publishers, publisher).status !== 'live') return 'publisher_not_live'
  if (!opensAt(lane.hoursSchedule, at)) return 'lane_closed'
  if (lane.states?.length && !(state && lane.states.includes(state))) return 'lane_state'
  if (
    isLaneCapped(model, { name: laneName(lane.campaign, publisher), caps, payoutCap: dailyPayoutCapCents, least }, at)
  )
    return 'lane_capped'
  return hasSentBefore(model, lane, knock) ? 'duplicate' : null
}

const UNPAID = {
  payoutMode: 'none',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
} as const

/** What a publisher is paid by: the lane's terms, or where it says so the campaign's. */
function payoutIn(lane: LaneModel | undefined, campaign: GateInputModel['campaign']) {
  const from = lane && campaign ? (lane.payoutMode === 'inherit' ? campaign.payout : lane) : null
  if (!from) return UNPAID
  const { payoutCents, revsharePct, minPayoutCents, maxPayoutCents } = from
  const mode = 'mode' in from ? from.mode : from.payoutMode
  const payoutMode = mode === 'fixed' ? ('fixed' as const) : ('revshare' as const)
  return { payoutMode, payoutCents, revsharePct, minPayoutCents, maxPayoutCents }
}

/** The terms in force when a call arrives. */
export function termsOf(model: Model, knock: GateInputModel): TermsModel {
  const { campaign, publisher } = knock
  const lane = campaign && publisher ? model.lanes.get(laneName(campaign.name, publisher)) : undefined
  return {
    ...payoutIn(lane, campaign),
    payoutWithheld: withheldReason(model, knock),
    bufferSeconds: lane?.bufferSeconds ?? campaign?.bufferSeconds ?? 0,
    usageRateCents: RATES[model.plan],
  }
}

/** Targets on a campaign's plan, with what they are worth now. A delivery target is worth nothing, whatever its route says. */
export function planOf(model: Model, campaign: CampaignModel): readonly PlannedModel[] {
  return [...model.routes.values()]
    .filter((route) => route.campaign === campaign.name && route.active)
    .map(({ target, revenueOverrideCents }) => {
      const { revenueCents, durationThresholdSeconds } = need(model.targets, target)
      return {
        target,
        revenueCents: revenueCents === 0 ? 0 : (revenueOverrideCents ?? revenueCents),
        thresholdSeconds: durationThresholdSeconds,
      }
    })
}

/** The target that a repeat caller is to be tried with first: the one that connected last on the campaign. */
export function preferredTarget(model: Model, knock: GateInputModel): string | null {
  const { campaign, caller } = knock
  if (campaign?.repeatCallerPolicy !== 'same_target' || !isRepeatCaller(model, knock)) return null
  const connected = model.calls.flatMap((call) =>
    call.campaign === campaign.name && call.caller === caller && call.answeredAt !== null
      ? call.claims.map((claim) => ({ ...claim, answeredAt: call.answeredAt ?? 0 }))
      : [],
  )
  const inOrder = connected
    .filter(({ answerNo }) => answerNo !== null)
    .toSorted((one, other) => one.answeredAt - other.answeredAt || (one.answerNo ?? 0) - (other.answerNo ?? 0))
  return inOrder.at(-1)?.target ?? null
}

/** What is wrong with the order that chance has given a plan; null when nothing is. */
export function orderProblem(
  model: Model,
  campaign: CampaignModel,
  first: string | null,
  order: readonly string[],
): string | null {
  const planned = planOf(model, campaign)
  const names = planned.map(({ target }) => target)
  if (order.toSorted().join() !== names.toSorted().join()) return `The plan is of ${names}, not of ${order}.`
  if (first !== null && names.includes(first) && order[0] !== first) return `${first} is not tried first.`
  const rest = order.filter((name) => name !== first)
  const rankOf = (name: string): readonly number[] => {
    const { priority, weight, made } = need(model.routes, routeName(campaign.name, name))
    const price = planned.find(({ target }) => target === name)?.revenueCents ?? 0
    const last = weight === 0 ? 1 : 0
    return { priority: [priority, last], weighted: [last], highest_bid: [-price, priority, made] }[campaign.routingMode]
  }
  for (const [place, name] of rest.entries()) {
    const next = rest[place + 1]
    if (next === undefined) break
    const [rank, after] = [rankOf(name), rankOf(next)]
    const differs = rank.findIndex((value, at) => value !== after[at])
    if (differs >= 0 && (rank[differs] ?? 0) > (after[differs] ?? 0)) return `${next} should come before ${name}.`
  }
  return null
}

/** A call that looks at a target, at an instant. */
interface EligibilityInputModel {
  readonly call: Pick<CallModel, 'callerState' | 'caller' | 'routing' | 'arrivalTags'>
  readonly at: number
}

interface Caps {
  readonly hourlyCap: number
  readonly dailyCap: number
  readonly monthlyCap: number
  readonly totalCap?: number
}

function isFull(model: Model, subject: Subject, caps: Caps, at: number): boolean {
  const { hour, day, month, total } = inWindows(takenSlots(model, subject), at)
  const { hourlyCap, dailyCap, monthlyCap, totalCap = 0 } = caps
  return [
    [hour, hourlyCap],
    [day, dailyCap],
    [month, monthlyCap],
    [total, totalCap],
  ].some(([count = 0, cap = 0]) => cap > 0 && count >= cap)
}

const isBusy = (model: Model, subject: Subject, cap: number) => cap > 0 && liveCalls(model, subject) >= cap

const isRevenueCapped = (model: Model, subject: Subject, cap: number, at: number) =>
  cap > 0 && (centsByDay(model, subject).get(dayOf(at)) ?? 0) >= cap

/** Whether the target was connected to the caller inside its window. */
function hasReachedBefore(
  { calls }: Model,
  target: TargetModel,
  { call: { caller }, at }: EligibilityInputModel,
): boolean {
  if (caller === null) return false
  const reached = calls.flatMap((call) =>
    call.caller === caller && call.claims.some((claim) => claim.target === target.name && claim.outcome === 'answered')
      ? [call.answeredAt ?? 0]
      : [],
  )
  return isInside(latest(reached), target.dedupeWindowSeconds, at)
}

/** Whether a tag passes a filter: one that is not there equals nothing. */
function matchesFilter(tag: string | undefined, { op, value }: TagFilterModel): boolean {
  const values = value === null ? [] : typeof value === 'string' ? [value] : value
  if (op === 'exists') return tag !== undefined
  if (op === 'missing') return tag === undefined
  if (op === 'prefix') return tag !== undefined && values.some((begin) => tag.startsWith(begin))
  const listed = tag !== undefined && values.includes(tag)
  return op === 'eq' || op === 'in' ? listed : !listed
}

/** Why a target cannot take a call at an instant: the first reason in the documented order, or null (Document 2, Skip reasons). */
export function skipReason(model: Model, name: string, { call, at }: EligibilityInputModel): string | null {
  const target = need(model.targets, name)
  const buyer = need(model.buyers, target.buyer)
  const [own, owner]: readonly Subject[] = [
    { kind: 'target', name },
    { kind: 'buyer', name: buyer.name },
  ]
  if (!own || !owner) return null
  const lists = [call.routing.states, target.states].filter((states) => states.length > 0)
  const reasons: readonly (readonly [string, boolean])[] = [
    ['paused', target.status === 'paused'],
    ['buyer_paused', buyer.status === 'paused'],
    ['suppressed', isSuppressed(model, name, at)],
    ['closed', !opensAt(target.hoursSchedule, at)],
    ['state', !lists.every((states) => call.callerState !== null && states.includes(call.callerState))],
    ['concurrency', isBusy(model, own, target.concurrencyCap)],
    ['capped', isFull(model, own, target, at)],
    [
      'buyer_capped',
      isBusy(model, owner, buyer.concurrencyCap) ||
        isFull(model, owner, buyer, at) ||
        isRevenueCapped(model, owner, buyer.dailyRevenueCapCents, at),
    ],
    ['spend_capped', isRevenueCapped(model, own, target.dailyRevenueCapCents, at)],
    ['duplicate', hasReachedBefore(model, target, { call, at })],
    ['tag_filter', !target.tagFilters.every((filter) => matchesFilter(call.arrivalTags[filter.key], filter))],
  ]
  return reasons.find(([, applies]) => applies)?.[0] ?? null
}
