import { windowsOf } from '../shared/windows.ts'
import { counterOf } from './counters.ts'
import { heldSlots } from './held-slots.ts'
import type { LedgerState } from './ledger.ts'
import type { CapFigures } from './ledger-events.ts'

/** How much of its caps a target has used in the windows of an instant. Held slots that do not count yet are left out. */
export function capFiguresOf(state: LedgerState, targetId: string, at: string): CapFigures {
  const { taken, total, cents } = counterOf(state, 'target', targetId)
  const { hour, day, month } = windowsOf(at)
  const held = (window: string) => heldSlots(state, 'target', targetId, window)
  const countedIn = (window: string) => taken.get(window, 0) - held(window)
  return {
    hour: countedIn(hour),
    day: countedIn(day),
    month: countedIn(month),
    total: total - held(''),
    dayRevenueCents: cents.get(day, 0),
  }
}
