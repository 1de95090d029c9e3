import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Buyer } from '../demand/buyer.ts'
import { destinationOf, type Target } from '../demand/target.ts'
import type { SkipReason } from '../shared/call-codes.ts'
import { formatDuration, pluralize } from '../shared/format.ts'
import { isOpen } from '../shared/hours.ts'
import { memoizedGet } from '../shared/memoized-get.ts'
import { msOf } from '../shared/windows.ts'
import { isInsideWindow, type LastSeen, targetCallerKey } from './callers.ts'
import { checkCallCaps, checkConcurrencyCap, checkRevenueCap, type SkipDetail } from './caps.ts'
import { type Counter, counterOf } from './counters.ts'
import type { Arrival, Planned, Skip } from './decision.ts'
import { heldSlots } from './held-slots.ts'
import type { LedgerState } from './ledger.ts'
import { checkTagFilters } from './tag-filters.ts'
import { suppressionEndAt, type TargetHealth } from './target-health.ts'

/** The call, and the state that the eligibility rules read. */
export interface EligibilityContext {
  readonly workspace: WorkspaceState
  readonly ledger: LedgerState
  readonly caller: string | null
  readonly callerState: string | null
  readonly tags: Arrival['tags']
  readonly campaignName: string
  /** States of the campaign, as they were at the arrival. */
  readonly campaignStates: readonly string[]
  readonly lastSeen: LastSeen
  readonly at: string
}

/** A target under check, for one call. */
interface Candidate extends EligibilityContext {
  readonly target: Target
  readonly buyer: Buyer
  /** Counters of the target and of its buyer, read only when there is a cap to compare them with. */
  readonly counter: () => Counter
  readonly buyerCounter: () => Counter
  /** Slots in a window that calls hold without counting yet. */
  readonly held: (window: string) => number
  readonly buyerHeld: (window: string) => number
}

interface Rule {
  readonly reason: SkipReason
  /** Why the target cannot take the call; null when this rule does not skip it. */
  readonly check: (candidate: Candidate) => SkipDetail | null
}

const getTarget = memoizedGet<Target>()
const getBuyer = memoizedGet<Buyer>()
const getHealth = memoizedGet<TargetHealth>()

const NOTHING_TO_DIAL = 'The target has nothing to dial.'

function checkStates({ target, callerState, campaignName, campaignStates }: Candidate): SkipDetail | null {
  const lists = [
    { owner: `Campaign ${campaignName}`, states: campaignStates },
    { owner: `Target ${target.name}`, states: target.states },
  ]
  const refusing = lists.find(
    ({ states }) => states.length > 0 && (callerState === null || !states.includes(callerState)),
  )
  if (!refusing) return null
  return {
    sentence: callerState
      ? `${refusing.owner} does not take callers from ${callerState}.`
      : `${refusing.owner} takes callers of certain states only, and the caller's is not known.`,
    figures: { state: callerState },
  }
}

function checkSuppression({ target, ledger, at }: Candidate): SkipDetail | null {
  const health = getHealth(ledger.health, target.id) ?? null
  const until = suppressionEndAt(health, at)
  if (health === null || until === null) return null
  const secondsLeft = Math.ceil((Date.parse(until) - Date.parse(at)) / 1_000)
  const { consecutiveFailures } = health
  const failures = consecutiveFailures === 1 ? '1 failed dial' : `${consecutiveFailures} failed dials in a row`
  return {
    sentence: `Target ${target.name} is switched off for ${pluralize(secondsLeft, 'more second')} after ${failures}.`,
    figures: { secondsLeft, suppressedUntil: until, consecutiveFailures },
  }
}

function checkDuplicate({ target, caller, lastSeen, at }: Candidate): SkipDetail | null {
  const { name, dedupeWindowSeconds: windowSeconds } = target
  if (windowSeconds === 0 || caller === null) return null
  const seen = lastSeen(targetCallerKey(target.id, caller))
  if (!isInsideWindow(seen, windowSeconds, at)) return null
  return {
    sentence: `The caller reached target ${name} less than ${formatDuration(windowSeconds)} ago.`,
    figures: { windowSeconds, reachedAt: seen?.at ?? null },
  }
}

/**
 * The skip reasons in their documented order (Document 2, Skip reasons). A row is a reason; `checkEligibility` is the one
 * interpreter. The document's last three reasons come from bidders' answers (`bids.ts`).
 */
const RULES: readonly Rule[] = [
  {
    reason: 'paused',
    check: ({ target }) => (target.status === 'active' ? null : { sentence: 'The target is paused.' }),
  },
  {
    reason: 'buyer_paused',
    check: ({ buyer }) => (buyer.status === 'active' ? null : { sentence: `Buyer ${buyer.name} is ${buyer.status}.` }),
  },
  {
    reason: 'no_destination',
    check: ({ target }) => (destinationOf(target) ? null : { sentence: NOTHING_TO_DIAL }),
  },
  { reason: 'suppressed', check: checkSuppression },
  {
    reason: 'closed',
    check: ({ target, at }) =>
      isOpen(target.hoursSchedule, msOf(at), target.timezone)
        ? null
        : { sentence: `Target ${target.name} is closed at this hour.` },
  },
  { reason: 'state', check: checkStates },
  {
    reason: 'concurrency',
    check: ({ target, counter }) => checkConcurrencyCap('Target', target, counter),
  },
  { reason: 'capped', check: ({ target, counter, held, at }) => checkCallCaps('Target', target, counter, held, at) },
  {
    reason: 'buyer_capped',
    check: ({ buyer, buyerCounter, buyerHeld, at }) =>
      checkConcurrencyCap('Buyer', buyer, buyerCounter) ??
      checkCallCaps('Buyer', buyer, buyerCounter, buyerHeld, at) ??
      checkRevenueCap('Buyer', buyer, buyerCounter, at),
  },
  {
    reason: 'spend_capped',
    check: ({ target, counter, at }) => checkRevenueCap('Target', target, counter, at),
  },
  { reason: 'duplicate', check: checkDuplicate },
  {
    reason: 'tag_filter',
    check: ({ target, tags }) => checkTagFilters(`Target ${target.name}`, target.tagFilters, tags),
  },
]

/** A planned target with what its rules read; null where it is gone. */
function candidateOf({ targetId }: Planned, look: EligibilityContext): Candidate | null {
  const { workspace, ledger } = look
  const target = getTarget(workspace.targets, targetId)
  const buyer = target && getBuyer(workspace.buyers, target.buyerId)
  if (!target || !buyer) return null
  return {
    ...look,
    target,
    buyer,
    counter: () => counterOf(ledger, 'target', target.id),
    buyerCounter: () => counterOf(ledger, 'buyer', buyer.id),
    held: (window) => heldSlots(ledger, 'target', target.id, window),
    buyerHeld: (window) => heldSlots(ledger, 'buyer', buyer.id, window),
  }
}

/** The target and buyer when a planned target can take the call now, else its skip. */
export function checkEligibility(
  planned: Planned,
  look: EligibilityContext,
): { readonly target: Target; readonly buyer: Buyer } | Skip {
  const { targetId, targetName } = planned
  const candidate = candidateOf(planned, look)
  if (!candidate) return { targetId, targetName, reason: 'no_destination', sentence: NOTHING_TO_DIAL, figures: {} }
  for (const { reason, check } of RULES) {
    const detail = check(candidate)
    if (detail) return { targetId, targetName, reason, sentence: detail.sentence, figures: detail.figures ?? {} }
  }
  const { target, buyer } = candidate
  return { target, buyer }
}

/** Every reason for which a planned target cannot take the call now, in their order. */
export function reasonsAgainst(planned: Planned, look: EligibilityContext): readonly SkipReason[] {
  const candidate = candidateOf(planned, look)
  if (!candidate) return ['no_destination']
  return RULES.flatMap(({ reason, check }) => (check(candidate) ? [reason] : []))
}
