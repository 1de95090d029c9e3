import type { Map as PersistentMap } from 'immutable'
import { addToCounts, type Counts, NO_COUNTS, windowsOf } from '../shared/windows.ts'
import { laneCounterId } from '../supply/lane.ts'

/** Usage of one campaign, lane, target or buyer, as caps are compared with it. */
export interface Counter {
  /** Calls in progress. */
  readonly live: number
  /** Slots taken in each UTC window: counted, or held by a dial until it is known whether they count. */
  readonly taken: Counts
  /** Slots taken in total, of a target since its caps were last reset. */
  readonly total: number
  /** Revenue (of a lane: payout) in cents by UTC day, booked at settlement. */
  readonly cents: Counts
}

export const NO_COUNTER: Counter = { live: 0, taken: NO_COUNTS, total: 0, cents: NO_COUNTS }

/** Counters by `counterKey`. */
export type Counters = PersistentMap<string, Counter>

export type CounterKind = 'campaign' | 'lane' | 'target' | 'buyer'

/** Change of one counter by one event. */
export interface CounterChange {
  readonly live: number
  /** Slots that count from now on. */
  readonly counted: number
  /** Slots that a dial holds until it is known whether they count. */
  readonly held: number
  /** Instant in whose UTC windows the slots lie. */
  readonly slotsAt: string
  /** Revenue (of a lane: payout); null when the event books none. */
  readonly cents: number | null
  /** Instant in whose UTC day the cents lie. */
  readonly centsAt: string
}

/** Records on which an event counts. */
export interface CountedIds {
  readonly campaignId: string | null
  readonly publisherId: string | null
  /** Of a lane that was opened again: its `reopenedKeyId`. */
  readonly laneKeyId?: string | undefined
  readonly targetId: string | null
  readonly buyerId: string | null
}

/** What one event counts, and on which records; a change is null where the event leaves that counter as it is. */
export interface EventCounts extends CountedIds {
  readonly campaign: CounterChange | null
  readonly lane: CounterChange | null
  readonly target: CounterChange | null
  readonly buyer: CounterChange | null
}

/** Keys of counters by kind and id: a decision reads hundreds of counters, and a cached string is hashed only once. */
const keys: Readonly<Record<CounterKind, Map<string, string>>> = {
  campaign: new Map(),
  lane: new Map(),
  target: new Map(),
  buyer: new Map(),
}
const MAX_KEYS = 10_000

/** Key of a counter: `<kind>:<id>`. The id of a lane is its `laneCounterId`. */
export function counterKey(kind: CounterKind, id: string): string {
  const cached = keys[kind].get(id)
  if (cached !== undefined) return cached
  if (keys[kind].size >= MAX_KEYS) keys[kind].clear()
  const key = `${kind}:${id}`
  keys[kind].set(id, key)
  return key
}

/** A counter; zeros where nothing is counted yet. */
export function counterOf({ counters }: { readonly counters: Counters }, kind: CounterKind, id: string): Counter {
  return counters.get(counterKey(kind, id), NO_COUNTER)
}

function updateCounter(draft: Counters, key: string, change: CounterChange, now: string): void {
  const { live, counted, held, slotsAt, cents, centsAt } = change
  const old = draft.get(key, NO_COUNTER)
  const slots = counted + held
  draft.set(key, {
    live: Math.max(0, old.live + live),
    taken: slots === 0 ? old.taken : addToCounts(old.taken, Object.values(windowsOf(slotsAt)), slots, now),
    total: Math.max(0, old.total + slots),
    cents: cents === null ? old.cents : addToCounts(old.cents, [windowsOf(centsAt).day], cents, now),
  })
}

/** Counters after an event; windows past their retention at `now` are dropped. */
export function addCounts(counters: Counters, counts: EventCounts, now: string): Counters {
  const { campaignId, publisherId, laneKeyId, targetId, buyerId, campaign, lane, target, buyer } = counts
  return counters.withMutations((draft) => {
    if (campaign && campaignId) updateCounter(draft, counterKey('campaign', campaignId), campaign, now)
    if (lane && campaignId && publisherId) {
      updateCounter(draft, counterKey('lane', laneCounterId(campaignId, publisherId, laneKeyId)), lane, now)
    }
    if (target && targetId) updateCounter(draft, counterKey('target', targetId), target, now)
    if (buyer && buyerId) updateCounter(draft, counterKey('buyer', buyerId), buyer, now)
  })
}
