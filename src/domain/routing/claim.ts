import type { Claim, Planned, RoutingSettings, Skip, Unrouted } from '../call-facts.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Target } from '../target.ts'
import { type Look, lookAt } from './eligibility.ts'
import { counted } from './words.ts'

/** A caller looking for a target: what is left of the plan, and how far the waterfall has come. */
export interface Search extends Look {
  readonly plan: readonly Planned[]
  readonly settings: RoutingSettings
  readonly caller: string | null
  readonly dialedNumber: string
  /** Dials made so far. */
  readonly attempts: number
}

/** Targets passed over, and the one claimed, or why there is none. */
export type Found = { readonly skipped: readonly Skip[] } & (
  | { readonly claim: Claim; readonly unrouted: null }
  | { readonly claim: null; readonly unrouted: Unrouted }
)

const CALLER_IDS: Readonly<Record<Endpoint['callerIdMode'], (endpoint: Endpoint, search: Search) => string | null>> = {
  caller: (_endpoint, { caller }) => caller,
  tracking_number: (_endpoint, { dialedNumber }) => dialedNumber,
  fixed: ({ callerIdE164 }) => callerIdE164,
}

/** Whole seconds left of the waterfall's time. */
function secondsLeft({ settings, at }: Search): number {
  return Math.floor((Date.parse(settings.deadline) - Date.parse(at)) / 1_000)
}

function claimOf(
  target: Target,
  buyer: { readonly id: string; readonly name: string },
  planned: Planned,
  search: Search,
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

function spent(search: Search, skipped: readonly Skip[]): Unrouted {
  const { attempts, settings } = search
  if (attempts > 0) {
    const sentence = `${counted(attempts, 'target')} ${attempts === 1 ? 'was' : 'were'} dialled and none answered.`
    return { reason: 'all_targets_failed', sentence, ...settings.unrouted }
  }
  if (skipped.length === 0) {
    return { reason: 'no_targets', sentence: 'The routing plan has no active targets.', ...settings.unrouted }
  }
  const sentence = `${counted(skipped.length, 'target')} on the plan, and none could take the call.`
  return { reason: 'no_eligible_target', sentence, ...settings.unrouted }
}

/** Goes down what is left of the plan to the first target that can take the call now (Supplement §6, Eligibility). Pure. */
export function findTarget(search: Search): Found {
  const skipped: Skip[] = []
  if (search.attempts > 0 && secondsLeft(search) < 1) return { skipped, claim: null, unrouted: spent(search, skipped) }
  for (const planned of search.plan) {
    const seen = lookAt(planned, search)
    if ('reason' in seen) {
      skipped.push(seen)
      continue
    }
    const claim = claimOf(seen.target, seen.buyer, planned, search)
    if (claim) return { skipped, claim, unrouted: null }
  }
  return { skipped, claim: null, unrouted: spent(search, skipped) }
}
