import type { UnroutedReason } from '../shared/call-codes.ts'
import type { HeldBack, Planned } from './decision.ts'
import { type EligibilityContext, reasonsAgainst } from './eligibility.ts'

/** Whether the price of a target is known: a bidder's only once it has bid. */
const isPriced = ({ targetId, bid }: Planned, { workspace }: EligibilityContext): boolean =>
  bid !== undefined || workspace.targets.get(targetId)?.type !== 'rtb'

const heldBackOf = ({ targetId, targetName, revenueCents }: Planned, reason: HeldBack['reason']): HeldBack => ({
  reason,
  target: { id: targetId, name: targetName },
  revenueCents,
})

/** What a gate alone held back: the first target of the plan that could have taken the call. Null for none. */
export function heldBackByGate(
  reason: UnroutedReason,
  plan: readonly Planned[],
  look: EligibilityContext,
): HeldBack | null {
  const first = plan.find((planned) => isPriced(planned, look) && reasonsAgainst(planned, look).length === 0)
  return first ? heldBackOf(first, reason) : null
}

/** What one skip reason alone held back, where every target of the plan was skipped: the first target with a single one. Null for none. */
export function heldBackByTarget(plan: readonly Planned[], look: EligibilityContext): HeldBack | null {
  for (const planned of plan) {
    const [reason, ...others] = isPriced(planned, look) ? reasonsAgainst(planned, look) : []
    if (reason !== undefined && others.length === 0) return heldBackOf(planned, reason)
  }
  return null
}

/** The field of an event; none where nothing was held back. */
export function heldBackField(held: HeldBack | null | undefined): { readonly heldBack?: HeldBack } {
  return held ? { heldBack: held } : {}
}
