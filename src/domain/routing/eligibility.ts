import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Buyer } from '../demand/buyer.ts'
import { destinationOf, type Target } from '../demand/target.ts'
import type { SkipReason } from '../shared/call-codes.ts'
import { isOpen } from '../shared/hours.ts'
import { quickLookup } from '../shared/memoized-get.ts'
import { msOf } from '../shared/windows.ts'
import { counted, duration } from '../shared/words.ts'
import { isInside, type LastSeen, reachedKey } from './callers.ts'
import { type Finding, fullCap, fullConcurrency, fullRevenue } from './caps.ts'
import type { Arrival, Planned, Skip } from './decision.ts'
import { type Counter, counterOf, type LedgerState } from './ledger.ts'
import { failedFilter } from './tag-filters.ts'
import { suppressedAt, type TargetHealth } from './target-health.ts'

/** What a call brings to the look at a target. */
export interface Look {
  readonly workspace: WorkspaceState
  readonly ledger: LedgerState
  readonly caller: string | null
  readonly callerState: string | null
  readonly tags: Arrival['tags']
  /** States of the campaign, as they were at the arrival. */
  readonly campaignStates: readonly string[]
  readonly lastSeen: LastSeen
  readonly at: string
}

/** A target looked at for a call, at the moment of the look. */
interface Candidate extends Look {
  readonly target: Target
  readonly buyer: Buyer
  /** What the ledger counts of the target, and of the buyer: looked for when there is a cap to hold it against. */
  readonly counter: () => Counter
  readonly buyerCounter: () => Counter
}

interface Rule {
  readonly reason: SkipReason
  /** Why the target cannot take the call; null when it can, as far as this rule goes. */
  readonly skips: (candidate: Candidate) => Finding | null
}

const targetIn = quickLookup<Target>()
const buyerIn = quickLookup<Buyer>()
const healthIn = quickLookup<TargetHealth>()

const NOTHING_TO_DIAL = 'The target has nothing to dial.'

function outsideStates({ target, callerState, campaignStates }: Candidate): Finding | null {
  const lists = [campaignStates, target.states].filter((states) => states.length > 0)
  if (lists.every((states) => callerState !== null && states.includes(callerState))) return null
  return {
    sentence: callerState
      ? `Target ${target.name} does not take callers from ${callerState}.`
      : `Target ${target.name} takes callers of certain states only, and the caller's is not known.`,
    figures: { state: callerState },
  }
}

function switchedOff({ target, ledger, at }: Candidate): Finding | null {
  const health = healthIn(ledger.health, target.id) ?? null
  const until = suppressedAt(health, at)
  if (health === null || until === null) return null
  const secondsLeft = Math.ceil((Date.parse(until) - Date.parse(at)) / 1_000)
  const { consecutiveFailures } = health
  const failures = consecutiveFailures === 1 ? '1 failed dial' : `${consecutiveFailures} failed dials in a row`
  return {
    sentence: `Target ${target.name} is switched off for ${counted(secondsLeft, 'more second')} after ${failures}.`,
    figures: { secondsLeft, suppressedUntil: until, consecutiveFailures },
  }
}

function reachedBefore({ target, caller, lastSeen, at }: Candidate): Finding | null {
  const { name, dedupeWindowSeconds: windowSeconds } = target
  if (windowSeconds === 0 || caller === null) return null
  const seen = lastSeen(reachedKey(target.id, caller))
  if (!isInside(seen, windowSeconds, at)) return null
  return {
    sentence: `The caller reached target ${name} less than ${duration(windowSeconds)} ago.`,
    figures: { windowSeconds, reachedAt: seen?.at ?? null },
  }
}

/**
 * The skip reasons in their documented order (Document 2, Skip reasons). A row is a reason; `lookAt` is their one
 * interpreter. The last three of the document are what a bidder's answer comes to.
 */
const RULES: readonly Rule[] = [
  {
    reason: 'paused',
    skips: ({ target }) => (target.status === 'active' ? null : { sentence: 'The target is paused.' }),
  },
  {
    reason: 'buyer_paused',
    skips: ({ buyer }) => (buyer.status === 'active' ? null : { sentence: `Buyer ${buyer.name} is ${buyer.status}.` }),
  },
  {
    reason: 'no_destination',
    skips: ({ target }) => (target.type !== 'rtb' && destinationOf(target) ? null : { sentence: NOTHING_TO_DIAL }),
  },
  { reason: 'suppressed', skips: switchedOff },
  {
    reason: 'closed',
    skips: ({ target, at }) =>
      isOpen(target.hoursSchedule, msOf(at), target.timezone)
        ? null
        : { sentence: `Target ${target.name} is closed at this hour.` },
  },
  { reason: 'state', skips: outsideStates },
  {
    reason: 'concurrency',
    skips: ({ target, counter }) => fullConcurrency('Target', target, counter),
  },
  { reason: 'capped', skips: ({ target, counter, at }) => fullCap('Target', target, counter, at) },
  {
    reason: 'buyer_capped',
    skips: ({ buyer, buyerCounter, at }) =>
      fullConcurrency('Buyer', buyer, buyerCounter) ??
      fullCap('Buyer', buyer, buyerCounter, at) ??
      fullRevenue('Buyer', buyer, buyerCounter, at),
  },
  {
    reason: 'spend_capped',
    skips: ({ target, counter, at }) => fullRevenue('Target', target, counter, at),
  },
  { reason: 'duplicate', skips: reachedBefore },
  {
    reason: 'tag_filter',
    skips: ({ target, tags }) => failedFilter(`Target ${target.name}`, target.tagFilters, tags),
  },
]

/** A planned target that can take the call now, or why it is passed over. */
export function lookAt(planned: Planned, look: Look): { readonly target: Target; readonly buyer: Buyer } | Skip {
  const { workspace, ledger } = look
  const target = targetIn(workspace.targets, planned.targetId)
  const buyer = target && buyerIn(workspace.buyers, target.buyerId)
  const { targetId, targetName } = planned
  if (!target || !buyer)
    return { targetId, targetName, reason: 'no_destination', sentence: NOTHING_TO_DIAL, figures: {} }
  const candidate: Candidate = {
    ...look,
    target,
    buyer,
    counter: () => counterOf(ledger, 'target', target.id),
    buyerCounter: () => counterOf(ledger, 'buyer', buyer.id),
  }
  for (const { reason, skips } of RULES) {
    const finding = skips(candidate)
    if (finding) return { targetId, targetName, reason, sentence: finding.sentence, figures: finding.figures ?? {} }
  }
  return { target, buyer }
}
