import { counterKey } from './counters.ts'
import type { CapScope } from './notified-caps.ts'
import { hasUncountedSlot, type OpenCall } from './open-call.ts'

type OpenCalls = { readonly values: () => Iterable<OpenCall> }

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

/** Number of slots that open calls hold in a window (a prefix of its instants) without counting yet. */
export function heldSlots(calls: OpenCalls, scope: CapScope, id: string, window: string): number {
  const held = holdersOf(calls).get(counterKey(scope, id)) ?? []
  return held.filter((at) => at.startsWith(window)).length
}
