import type { Map as PersistentMap } from 'immutable'
import { counterKey } from './counters.ts'
import type { CapScope } from './notified-caps.ts'
import { hasUncountedSlot, type OpenCall } from './open-call.ts'
import type { Reservation } from './won-offer.ts'

type OpenCalls = { readonly values: () => Iterable<OpenCall> }
type Reservations = PersistentMap<string, Reservation>

/** Instants of the dials that hold a slot, by `counterKey`. One decision may ask for hundreds of targets. */
const cache = new WeakMap<OpenCalls, ReadonlyMap<string, readonly string[]>>()

function holdersOf(calls: OpenCalls): ReadonlyMap<string, readonly string[]> {
  const known = cache.get(calls)
  if (known) return known
  const holders = new Map<string, string[]>()
  for (const open of calls.values()) {
    for (const scope of ['target', 'buyer'] as const) {
      const { claim } = open
      if (!claim || !hasUncountedSlot(open, scope, claim[scope].id)) continue
      const key = counterKey(scope, claim[scope].id)
      const held = holders.get(key)
      if (held) held.push(claim.occurredAt)
      else holders.set(key, [claim.occurredAt])
    }
  }
  cache.set(calls, holders)
  return holders
}

/** Number of slots that accepted posts hold in a window (a prefix of its instants). */
export function reservedSlots(reservations: Reservations, scope: CapScope, id: string, window: string): number {
  if (reservations.isEmpty()) return 0
  const holds = (held: Reservation) =>
    scope === 'buyer' ? held.buyerId === id : held.targetId === id && !held.resetSince
  return reservations.count((held) => holds(held) && held.reservedAt.startsWith(window))
}

/** Number of slots that open calls and accepted posts hold in a window (a prefix of its instants) without counting yet. */
export function heldSlots(
  { calls, reservations }: { readonly calls: OpenCalls; readonly reservations: Reservations },
  scope: CapScope,
  id: string,
  window: string,
): number {
  const held = holdersOf(calls).get(counterKey(scope, id)) ?? []
  return held.filter((at) => at.startsWith(window)).length + reservedSlots(reservations, scope, id, window)
}
