import type { Buyer } from '../buyer.ts'
import type { Planned, Skip, SkipReason } from '../call-facts.ts'
import { isOpen } from '../hours.ts'
import { type Counter, counterOf, type LedgerState } from '../ledger.ts'
import { destinationOf, type Target } from '../target.ts'
import { type Windows, windowsOf } from '../windows.ts'
import type { WorkspaceState } from '../workspace.ts'

/** A target looked at for a call, at the moment of the look. */
export interface Candidate {
  readonly target: Target
  readonly buyer: Buyer
  readonly counter: Counter
  readonly buyerCounter: Counter
  readonly callerState: string | null
  /** States of the campaign, as they were at the arrival. */
  readonly campaignStates: readonly string[]
  readonly at: string
}

type Figures = Skip['figures']

interface Finding {
  readonly sentence: string
  readonly figures?: Figures
}

interface Rule {
  readonly reason: SkipReason
  /** Why the target cannot take the call; null when it can, as far as this rule goes. */
  readonly skips: (candidate: Candidate) => Finding | null
}

interface Capped {
  readonly hourlyCap: number
  readonly dailyCap: number
  readonly monthlyCap: number
  readonly totalCap?: number
}

type Window = keyof Windows | 'total'

const CAPS: readonly { readonly window: Window; readonly name: string; readonly capOf: (caps: Capped) => number }[] = [
  { window: 'hour', name: 'hourly', capOf: ({ hourlyCap }) => hourlyCap },
  { window: 'day', name: 'daily', capOf: ({ dailyCap }) => dailyCap },
  { window: 'month', name: 'monthly', capOf: ({ monthlyCap }) => monthlyCap },
  { window: 'total', name: 'lifetime', capOf: ({ totalCap }) => totalCap ?? 0 },
]

/** Slots taken of each window at an instant. */
export function takenIn({ taken, total }: Counter, at: string): Readonly<Record<Window, number>> {
  const { hour, day, month } = windowsOf(at)
  return { hour: taken.get(hour, 0), day: taken.get(day, 0), month: taken.get(month, 0), total }
}

function fullCap(who: string, caps: Capped, counter: Counter, at: string): Finding | null {
  const taken = takenIn(counter, at)
  const full = CAPS.find(({ window, capOf }) => capOf(caps) > 0 && taken[window] >= capOf(caps))
  if (!full) return null
  const cap = full.capOf(caps)
  const count = taken[full.window]
  return {
    sentence: `${who} has reached its ${full.name} cap: ${count} of ${cap} calls.`,
    figures: { window: full.name, cap, count },
  }
}

function fullConcurrency(who: string, cap: number, { live }: Counter): Finding | null {
  if (cap === 0 || live < cap) return null
  return {
    sentence: `${who} has ${live} of ${cap} calls in progress.`,
    figures: { window: 'concurrency', cap, count: live },
  }
}

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

/** The skip reasons in their documented order (Document 2, Skip reasons). A row is a reason; `lookAt` is their one interpreter. */
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
    skips: ({ target }) =>
      target.type !== 'rtb' && destinationOf(target) ? null : { sentence: 'The target has nothing to dial.' },
  },
  {
    reason: 'closed',
    skips: ({ target, at }) =>
      isOpen(target.hoursSchedule, Date.parse(at), target.timezone)
        ? null
        : { sentence: `Target ${target.name} is closed at this hour.` },
  },
  { reason: 'state', skips: outsideStates },
  {
    reason: 'concurrency',
    skips: ({ target, counter }) => fullConcurrency(`Target ${target.name}`, target.concurrencyCap, counter),
  },
  { reason: 'capped', skips: ({ target, counter, at }) => fullCap(`Target ${target.name}`, target, counter, at) },
  {
    reason: 'buyer_capped',
    skips: ({ buyer, buyerCounter, at }) =>
      fullConcurrency(`Buyer ${buyer.name}`, buyer.concurrencyCap, buyerCounter) ??
      fullCap(`Buyer ${buyer.name}`, buyer, buyerCounter, at) ??
      fullRevenue(`Buyer ${buyer.name}`, buyer.dailyRevenueCapCents, buyerCounter, at),
  },
]

function fullRevenue(who: string, capCents: number, { cents }: Counter, at: string): Finding | null {
  const booked = cents.get(windowsOf(at).day, 0)
  if (capCents === 0 || booked < capCents) return null
  return {
    sentence: `${who} has reached its daily revenue cap: ${booked} of ${capCents} cents.`,
    figures: { window: 'daily revenue', capCents, cents: booked },
  }
}

/** What a call brings to the look at a target. */
export interface Look {
  readonly workspace: WorkspaceState
  readonly ledger: LedgerState
  readonly callerState: string | null
  readonly campaignStates: readonly string[]
  readonly at: string
}

/** A planned target that can take the call now, or why it is passed over. */
export function lookAt(planned: Planned, look: Look): { readonly target: Target; readonly buyer: Buyer } | Skip {
  const { workspace, ledger, callerState, campaignStates, at } = look
  const target = workspace.targets.get(planned.targetId)
  const buyer = target && workspace.buyers.get(target.buyerId)
  const { targetId, targetName } = planned
  if (!target || !buyer)
    return { targetId, targetName, reason: 'no_destination', sentence: 'The target is gone.', figures: {} }
  const candidate: Candidate = {
    target,
    buyer,
    counter: counterOf(ledger, 'target', target.id),
    buyerCounter: counterOf(ledger, 'buyer', buyer.id),
    callerState,
    campaignStates,
    at,
  }
  for (const { reason, skips } of RULES) {
    const finding = skips(candidate)
    if (finding) return { targetId, targetName, reason, sentence: finding.sentence, figures: finding.figures ?? {} }
  }
  return { target, buyer }
}
