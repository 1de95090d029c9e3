import type { Bid } from '../bidding/bid.ts'
import type { Endpoint } from '../demand/endpoint.ts'
import type { Target } from '../demand/target.ts'
import { pluralize } from '../shared/format.ts'
import { BID } from '../shared/limits.ts'
import { offerOf } from './bids.ts'
import type { Claim, Planned, RoutingSettings, Skip, Unrouted } from './decision.ts'
import { checkEligibility, type EligibilityContext } from './eligibility.ts'

/** A plan, what its targets are checked by, and the bids that were asked for. */
export interface PlanSearch extends EligibilityContext {
  readonly bids: readonly Bid[]
  readonly plan: readonly Planned[]
}

/** Input of the waterfall: the call, the rest of its plan, and the dials so far. */
export interface WaterfallInput extends PlanSearch {
  readonly settings: RoutingSettings
  readonly dialedNumber: string
  /** Dials made so far. */
  readonly attempts: number
}

/** Skipped targets, and the claim or the reason why there is none. */
export type WaterfallResult = { readonly skipped: readonly Skip[] } & (
  | { readonly claim: Claim; readonly unrouted: null }
  | { readonly claim: null; readonly unrouted: Unrouted }
)

/** Targets whose bidders have to be asked before the waterfall can go on. */
export interface UnaskedBidders {
  readonly unasked: readonly string[]
}

const CALLER_IDS: Readonly<
  Record<Endpoint['callerIdMode'], (endpoint: Endpoint, search: WaterfallInput) => string | null>
> = {
  caller: (_endpoint, { caller }) => caller,
  tracking_number: (_endpoint, { dialedNumber }) => dialedNumber,
  fixed: ({ callerIdE164 }) => callerIdE164,
}

/** Whole seconds left of the failover budget. */
function secondsLeft({ settings, at }: WaterfallInput): number {
  return Math.floor((Date.parse(settings.deadline) - Date.parse(at)) / 1_000)
}

type ClaimedDial = Pick<Claim, 'deliveryMode' | 'destination' | 'callerId' | 'whisper'> &
  Pick<Endpoint, 'ringTimeoutSeconds'>

/** How a target is dialled: by its endpoint, or where its bid says; null where there is nothing to dial. */
function dialOf({ endpoint }: Target, { bid }: Planned, search: WaterfallInput): ClaimedDial | null {
  if (bid?.destination) {
    const { mode, value } = bid.destination
    return {
      deliveryMode: mode,
      destination: value,
      callerId: search.caller,
      whisper: null,
      ringTimeoutSeconds: null,
    }
  }
  const destination = endpoint?.destinationE164 ?? endpoint?.sipUri
  if (!endpoint || !destination) return null
  const { mode, whisper, ringTimeoutSeconds, callerIdMode } = endpoint
  const callerId = CALLER_IDS[callerIdMode](endpoint, search)
  return { deliveryMode: mode, destination, callerId, whisper, ringTimeoutSeconds }
}

function claimOf(
  target: Target,
  buyer: { readonly id: string; readonly name: string },
  planned: Planned,
  search: WaterfallInput,
): Claim | null {
  const dial = dialOf(target, planned, search)
  if (!dial) return null
  const { ringTimeoutSeconds, ...dialled } = dial
  return {
    attempt: search.attempts + 1,
    target: { id: target.id, name: target.name },
    buyer: { id: buyer.id, name: buyer.name },
    externalRef: target.externalRef,
    ...dialled,
    ringSeconds: Math.min(ringTimeoutSeconds ?? search.settings.dialTimeoutSeconds, secondsLeft(search)),
    revenueCents: planned.revenueCents,
    durationThresholdSeconds: planned.durationThresholdSeconds,
    capCountsOn: target.capCountsOn,
    occurredAt: search.at,
    ...(planned.bid && { bidId: planned.bid.bidId }),
  }
}

/** Why no target takes the call; `left` targets were not tried when the failover budget was spent. */
function unroutedResult(search: WaterfallInput, skipped: readonly Skip[], left = 0): Unrouted {
  const { attempts, settings, campaignName } = search
  if (attempts > 0) {
    const late = left === 0 ? '' : ` before the failover budget was spent, with ${pluralize(left, 'target')} left`
    const sentence = `${pluralize(attempts, 'target')} of campaign ${campaignName} ${attempts === 1 ? 'was' : 'were'} dialled and none answered${late}.`
    return { reason: 'all_targets_failed', sentence, ...settings.unrouted }
  }
  if (left === 0 && skipped.every(({ reason }) => reason === 'paused')) {
    const sentence = `The routing plan of campaign ${campaignName} has no active targets.`
    return { reason: 'no_targets', sentence, ...settings.unrouted }
  }
  const late = left === 0 ? '' : ' before the failover budget was spent'
  const sentence = `${pluralize(skipped.length + left, 'target')} on the plan of campaign ${campaignName}, and none could take the call${late}.`
  return { reason: 'no_eligible_target', sentence, ...settings.unrouted }
}

/** An eligible target with its offer, or its skip; null for a bidder that has to be asked first. */
export function offerFor(planned: Planned, search: PlanSearch) {
  const seen = checkEligibility(planned, search)
  if ('reason' in seen) return seen
  const offer = offerOf(planned, seen.target, search.bids, search.at)
  return offer === null || 'reason' in offer ? offer : { ...seen, offer }
}

/** Selects the first target on the rest of the plan that can take the call now (Supplement §6, Eligibility). */
export function selectTarget(search: WaterfallInput): WaterfallResult | UnaskedBidders {
  const skipped: Skip[] = []
  const spent = (left: number): WaterfallResult => ({
    skipped,
    claim: null,
    unrouted: unroutedResult(search, skipped, left),
  })
  const isSpent = secondsLeft(search) < 1
  if (search.attempts > 0 && isSpent) return spent(search.plan.length)
  for (const [place, planned] of search.plan.entries()) {
    const seen = offerFor(planned, search)
    if (seen && 'reason' in seen) {
      skipped.push(seen)
      continue
    }
    if (isSpent) return spent(search.plan.length - place)
    if (seen === null) return { unasked: [planned.targetId] }
    const claim = claimOf(seen.target, seen.buyer, seen.offer, search)
    if (claim) return { skipped, claim, unrouted: null }
  }
  return { skipped, claim: null, unrouted: unroutedResult(search, skipped) }
}

/** Selects the first target when the plan is made: targets behind it that cannot take the call are skipped as well. */
export function planTargets(search: WaterfallInput): WaterfallResult | UnaskedBidders {
  const found = selectTarget(search)
  if ('unasked' in found || !found.claim) return found
  const { skipped, claim } = found
  const behind = search.plan.slice(search.plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1)
  const seen = behind.flatMap((planned) => offerFor(planned, search) ?? [])
  return { ...found, skipped: [...skipped, ...seen.filter((one) => 'reason' in one)] }
}

/** Bidders on a plan that could take the call, and have not been asked yet: at most as many as are asked at once. */
export function unaskedBidders(search: PlanSearch): readonly string[] {
  const asked = new Set(search.bids.map(({ target }) => target.id))
  return search.plan
    .filter(({ targetId }) => !asked.has(targetId) && search.workspace.targets.get(targetId)?.type === 'rtb')
    .filter((planned) => !('reason' in checkEligibility(planned, search)))
    .map(({ targetId }) => targetId)
    .slice(0, Math.max(0, BID.bidders - asked.size))
}
