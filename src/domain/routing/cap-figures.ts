import { windowsOf } from '../shared/windows.ts'
import { counterOf } from './counters.ts'
import type { LedgerState } from './ledger.ts'
import type { CapFigures } from './ledger-events.ts'
import { hasUncountedSlot } from './open-call.ts'

/** How much of its caps a target has used in the windows of an instant. Held slots that do not count yet are left out. */
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
