import type { CapScope } from './cap-notices.ts'
import { type CapFigures, counterOf, type LedgerState, type OpenCall } from './ledger.ts'
import { windowsOf } from './windows.ts'

/** Nothing used of any cap. */
export const NO_FIGURES: CapFigures = { hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 }

/** Whether a call holds a slot of a target or buyer without having been counted yet. */
export function holds({ claim, connected, resetSince }: OpenCall, scope: CapScope, id: string): boolean {
  if (claim?.[scope].id !== id || claim.capCountsOn === 'claimed') return false
  if (scope === 'target' && resetSince) return false
  return claim.capCountsOn === 'converted' || !connected
}

/** What is counted of a target's caps in the windows of an instant, as `usage` reads; slots only held are left out. */
export function capFiguresOf(state: LedgerState, targetId: string, at: string): CapFigures {
  const { taken, total, cents } = counterOf(state, 'target', targetId)
  const held = [...state.calls.values()].filter((open) => holds(open, 'target', targetId))
  const { hour, day, month } = windowsOf(at)
  const countedIn = (window: string) =>
    taken.get(window, 0) - held.filter(({ claim }) => claim?.occurredAt.startsWith(window)).length
  return {
    hour: countedIn(hour),
    day: countedIn(day),
    month: countedIn(month),
    total: total - held.length,
    dayRevenueCents: cents.get(day, 0),
  }
}

/**
 * Whether a reset would change anything: a count of any window, or a call that may come to count there yet. Even a window
 * that reads nothing is such a trace: whoever was dialled in it may be converted or corrected long afterwards.
 */
export function hasUsedCaps(state: LedgerState, targetId: string): boolean {
  const { taken, total, cents } = counterOf(state, 'target', targetId)
  const traced = total > 0 || !taken.isEmpty() || !cents.isEmpty()
  return traced || state.calls.some((open) => pends(open, targetId))
}

/** A call that was claimed for the target and may still count there. */
function pends({ claim, resetSince }: OpenCall, targetId: string): boolean {
  return claim?.target.id === targetId && !resetSince
}
