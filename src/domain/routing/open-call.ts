import type { Arrival, Claim, Planned, RoutingSettings } from './decision.ts'
import type { CapScope } from './notified-caps.ts'

/** A call that still occupies something: a place among the calls in progress, or a slot that may yet be given back. */
export interface OpenCall {
  readonly arrival: Arrival
  readonly settings: RoutingSettings
  /** Rest of the plan, in order: last the targets that were busy at the arrival, which are tried once more. */
  readonly plan: readonly Planned[]
  /** The current dial, or the one that connected; null when no target is dialled. */
  readonly claim: Claim | null
  readonly connected: boolean
  /** The target's caps were reset after the claim: the call does not count on the target. */
  readonly resetSince: boolean
  /** Dials so far. */
  readonly attempts: number
  readonly live: boolean
}

/** Whether a call that is over stays open until its settlement is counted. */
export function isAwaitingSettlement({ claim, connected }: OpenCall): boolean {
  return claim !== null && connected
}

/** Whether a call holds a slot of a target or buyer that does not count yet. */
export function hasUncountedSlot({ claim, connected, resetSince }: OpenCall, scope: CapScope, id: string): boolean {
  if (claim?.[scope].id !== id || claim.capCountsOn === 'claimed') return false
  if (scope === 'target' && resetSince) return false
  return claim.capCountsOn === 'converted' || !connected
}
