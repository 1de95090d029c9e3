import { windowsOf } from '../shared/windows.ts'
import { type CapFigures, counterOf, type LedgerState, type OpenCall } from './ledger.ts'
import type { CapScope } from './notified-caps.ts'

/** Whether a call holds a slot of a target or buyer without having been counted yet. */
export function hasUncountedSlot({ claim, connected, resetSince }: OpenCall, scope: CapScope, id: string): boolean {
  if (claim?.[scope].id !== id || claim.capCountsOn === 'claimed') return false
  if (scope === 'target' && resetSince) return false
  return claim.capCountsOn === 'converted' || !connected
}

/** What is counted of a target's caps in the windows of an instant, as `usage` reads; slots only held are left out. */
export function capFiguresOf(state: LedgerState, targetId: string, at: string): CapFigures {
  const { taken, total, cents } = counterOf(state, 'target', targetId)
  const held = [...state.calls.values()].filter((open) => hasUncountedSlot(open, 'target', targetId))
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
