import type { WorkspaceState } from '../configuration/workspace.ts'
import { windowsOf } from '../shared/windows.ts'
import { CAPS, type CallCaps, slotsTakenAt } from './caps.ts'
import { type CounterChange, counterKey, counterOf } from './counters.ts'
import { countsOf, type LedgerEvent } from './counts.ts'
import { reservedSlots } from './held-slots.ts'
import type { LedgerState } from './ledger.ts'
import { type CapScope, notifiedCap, type TargetCapped } from './notified-caps.ts'
import { hasUncountedSlot } from './open-call.ts'

type ReachedCap = Pick<TargetCapped, 'window' | 'countedAt' | 'figures'>
type CappedRecord = CallCaps & { readonly id: string; readonly dailyRevenueCapCents: number }

/** Slots in the window of an instant (a prefix of it) that other calls and posts hold and that do not count yet. */
function slotsHeldByOthers(state: LedgerState, callId: string, scope: CapScope, id: string, window: string): number {
  const held = state.calls.count(
    (open, other) =>
      other !== callId && hasUncountedSlot(open, scope, id) && open.claim?.occurredAt.startsWith(window) === true,
  )
  return held + reservedSlots(state.reservations, scope, id, window)
}

/** Caps of a target or buyer that a change of its counter reaches and that were not notified at their present value. */
function reachedCaps(
  state: LedgerState,
  callId: string,
  { counted, held, slotsAt, cents, centsAt }: CounterChange,
  scope: CapScope,
  record: CappedRecord,
): readonly ReachedCap[] {
  const counter = counterOf(state, scope, record.id)
  const notified = state.notifiedCaps.get(counterKey(scope, record.id))
  const isDue = (window: ReachedCap['window'], at: string, cap: number) =>
    cap > 0 && notifiedCap(notified, window, at) !== cap
  const reached: ReachedCap[] = []
  for (const { window, name, capOf } of counted > 0 ? CAPS : []) {
    const cap = capOf(record)
    if (!isDue(name, slotsAt, cap)) continue
    const slots = slotsTakenAt(counter, slotsAt)[window] + counted + held
    if (slots < cap) continue
    const begins = window === 'total' ? '' : windowsOf(slotsAt)[window]
    const count = slots - slotsHeldByOthers(state, callId, scope, record.id, begins)
    if (count >= cap) reached.push({ window: name, countedAt: slotsAt, figures: { cap, count } })
  }
  const capCents = record.dailyRevenueCapCents
  if (cents !== null && cents > 0 && isDue('daily revenue', centsAt, capCents)) {
    const earned = counter.cents.get(windowsOf(centsAt).day, 0) + cents
    const figures = { capCents, cents: earned }
    if (earned >= capCents) reached.push({ window: 'daily revenue', countedAt: centsAt, figures })
  }
  return reached
}

function callOf({ data }: LedgerEvent): { readonly callId: string; readonly occurredAt: string } | null {
  if ('arrival' in data) return data.arrival
  return 'callId' in data ? data : null
}

/** The `TargetCapped` events of one ledger event. */
function capEvents(state: LedgerState, event: LedgerEvent, { targets, buyers }: WorkspaceState) {
  const counts = countsOf(event)
  const call = callOf(event)
  const target = counts?.targetId && targets.get(counts.targetId)
  const buyer = counts?.buyerId && buyers.get(counts.buyerId)
  if (!counts || !call || !target || !buyer) return []
  const { callId, occurredAt } = call
  const dialed = {
    target: { id: target.id, name: target.name },
    externalRef: target.externalRef,
    buyer: { id: buyer.id, name: buyer.name },
  }
  const eventsOf = (scope: CapScope, record: CappedRecord) => {
    const change = counts[scope]
    const caps = change ? reachedCaps(state, callId, change, scope, record) : []
    return caps.map((reached) => ({
      type: 'TargetCapped' as const,
      data: { callId, occurredAt, scope, ...reached, ...dialed },
    }))
  }
  return [...eventsOf('target', target), ...eventsOf('buyer', buyer)]
}

/**
 * Events, followed by a `TargetCapped` for each cap that they reach (Document 2, `target.capped`): once for each window
 * and cap, however many routers count. `state` is the ledger before the events, without the slots that they give back.
 */
export function withCapNotifications(
  state: LedgerState,
  events: readonly LedgerEvent[],
  workspace: WorkspaceState,
): readonly LedgerEvent[] {
  return [...events, ...events.flatMap((event) => capEvents(state, event, workspace))]
}
