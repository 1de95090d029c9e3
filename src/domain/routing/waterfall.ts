import type { Endpoint } from '../demand/endpoint.ts'
import type { Target } from '../demand/target.ts'
import { pluralize } from '../shared/format.ts'
import type { Claim, Planned, RoutingSettings, Skip, Unrouted } from './decision.ts'
import { checkEligibility, type EligibilityContext } from './eligibility.ts'

/** Input of the waterfall: the call, the rest of its plan, and the dials so far. */
export interface WaterfallInput extends EligibilityContext {
  readonly plan: readonly Planned[]
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

function claimOf(
  target: Target,
  buyer: { readonly id: string; readonly name: string },
  planned: Planned,
  search: WaterfallInput,
): Claim | null {
  const { endpoint } = target
  const destination = endpoint?.destinationE164 ?? endpoint?.sipUri
  if (!endpoint || !destination) return null
  return {
    attempt: search.attempts + 1,
    target: { id: target.id, name: target.name },
    buyer: { id: buyer.id, name: buyer.name },
    externalRef: target.externalRef,
    deliveryMode: endpoint.mode,
    destination,
    callerId: CALLER_IDS[endpoint.callerIdMode](endpoint, search),
    whisper: endpoint.whisper,
    ringSeconds: Math.min(endpoint.ringTimeoutSeconds ?? search.settings.dialTimeoutSeconds, secondsLeft(search)),
    revenueCents: planned.revenueCents,
    durationThresholdSeconds: planned.durationThresholdSeconds,
    capCountsOn: target.capCountsOn,
    occurredAt: search.at,
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
  if (skipped.every(({ reason }) => reason === 'paused')) {
    const sentence = `The routing plan of campaign ${campaignName} has no active targets.`
    return { reason: 'no_targets', sentence, ...settings.unrouted }
  }
  const sentence = `${pluralize(skipped.length, 'target')} on the plan of campaign ${campaignName}, and none could take the call.`
  return { reason: 'no_eligible_target', sentence, ...settings.unrouted }
}

/** Selects the first target on the rest of the plan that can take the call now (Supplement §6, Eligibility). */
export function selectTarget(search: WaterfallInput): WaterfallResult {
  const skipped: Skip[] = []
  if (search.attempts > 0 && secondsLeft(search) < 1) {
    return { skipped, claim: null, unrouted: unroutedResult(search, skipped, search.plan.length) }
  }
  for (const planned of search.plan) {
    const seen = checkEligibility(planned, search)
    if ('reason' in seen) {
      skipped.push(seen)
      continue
    }
    const claim = claimOf(seen.target, seen.buyer, planned, search)
    if (claim) return { skipped, claim, unrouted: null }
  }
  return { skipped, claim: null, unrouted: unroutedResult(search, skipped) }
}

/** Selects the first target when the plan is made: targets behind it that cannot take the call are skipped as well. */
export function planTargets(search: WaterfallInput): WaterfallResult {
  const found = selectTarget(search)
  if (!found.claim) return found
  const { skipped, claim } = found
  const behind = search.plan.slice(search.plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1)
  const seen = behind.map((planned) => checkEligibility(planned, search))
  return { ...found, skipped: [...skipped, ...seen.filter((one) => 'reason' in one)] }
}
