import type { Endpoint } from '../demand/endpoint.ts'
import type { Target } from '../demand/target.ts'
import { pluralize } from '../shared/format.ts'
import type { Claim, Planned, RoutingSettings, Skip, Unrouted } from './decision.ts'
import { checkEligibility, type EligibilityContext } from './eligibility.ts'

/** A caller looking for a target: what is left of the plan, and how far the waterfall has come. */
export interface WaterfallInput extends EligibilityContext {
  readonly plan: readonly Planned[]
  readonly settings: RoutingSettings
  readonly campaignName: string
  readonly dialedNumber: string
  /** Dials made so far. */
  readonly attempts: number
}

/** Targets passed over, and the one claimed, or why there is none. */
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

/** Whole seconds left of the waterfall's time. */
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

/** Why nobody takes the call; `left` are targets that no time was left for. */
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

/** Goes down what is left of the plan to the first target that can take the call now (Supplement §6, Eligibility). Pure. */
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

/** The same at planning, where every target is looked at: those behind the one claimed that cannot take the call are out too. */
export function planTargets(search: WaterfallInput): WaterfallResult {
  const found = selectTarget(search)
  if (!found.claim) return found
  const { skipped, claim } = found
  const behind = search.plan.slice(search.plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1)
  const seen = behind.map((planned) => checkEligibility(planned, search))
  return { ...found, skipped: [...skipped, ...seen.filter((one) => 'reason' in one)] }
}
