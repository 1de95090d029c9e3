import type { Claim } from '../../../src/domain/routing/decision.ts'
import { isCounted, type Slot } from './slots.ts'

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** A dial of a call, with its slot on the target and on the buyer. */
export interface Dial {
  readonly claim: Claim
  readonly target: Readonly<Slot>
  readonly buyer: Readonly<Slot>
}

interface WritableDial extends Dial {
  readonly target: Writable<Slot>
  readonly buyer: Writable<Slot>
}

/** What a call holds: its admission by a campaign and lane, and its latest dial. */
interface CallSlots {
  readonly campaign: Writable<Slot>
  readonly lane: Writable<Slot>
  dial: WritableDial | null
}

/** What an event has just added to the counts of a target or buyer: a call in its windows, or revenue in a day. */
export interface Count {
  readonly scope: 'target' | 'buyer'
  readonly id: string
  readonly of: 'call' | 'revenue'
  /** The instant in whose windows it counts. */
  readonly at: string
}

export type SubjectKind = 'target' | 'buyer' | 'campaign' | 'lane'

/** The settled amounts of a call. */
type Books = { readonly converted: boolean; readonly revenueCents: number; readonly payoutCents: number }

/** What admits a call; null where it has no campaign or publisher. */
interface Admission {
  readonly campaignId: string | null
  readonly publisherId: string | null
  /** The key of a lane that was opened again: its counters are its own. */
  readonly laneKeyId?: string | undefined
  readonly at: string
}

const newSlot = (at: string, countsOn: Slot['countsOn']): Writable<Slot> => ({
  at,
  countsOn,
  state: countsOn === 'admitted' ? 'connected' : 'held',
  live: true,
  settledAt: null,
  converted: false,
  cents: 0,
  capsReset: false,
})

/** Whose slots an accepted post holds until its call arrives. */
interface Reserved {
  readonly auctionId: string
  readonly campaignId: string
  readonly publisherId: string
  readonly laneKeyId?: string | undefined
  readonly targetId: string
  readonly buyerId: string
  readonly at: string
}

const laneIdOf = (campaignId: string | null, publisherId: string, laneKeyId: string | undefined) =>
  [campaignId, publisherId, ...(laneKeyId ? [laneKeyId] : [])].join(':')

/** What a dial adds to the counts at its claim. */
function claimCounts({ target, buyer, occurredAt: at, capCountsOn }: Claim): readonly Count[] {
  if (capCountsOn !== 'claimed') return []
  return [
    { scope: 'target', id: target.id, of: 'call', at },
    { scope: 'buyer', id: buyer.id, of: 'call', at },
  ]
}

/** Changes both slots of a dial; returns what that adds to the counts. */
function changeDial(dial: WritableDial | null, next: (slot: Slot) => Partial<Slot>): readonly Count[] {
  if (!dial) return []
  return (['target', 'buyer'] as const).flatMap((scope): readonly Count[] => {
    const [slot, { id }] = [dial[scope], dial.claim[scope]]
    const before = { ...slot }
    Object.assign(slot, next(before))
    const call = !isCounted(before) && isCounted(slot)
    const revenue = slot.cents > before.cents && !slot.capsReset
    return [
      ...(call ? [{ scope, id, of: 'call', at: slot.at } as const] : []),
      ...(revenue ? [{ scope, id, of: 'revenue', at: slot.settledAt ?? '' } as const] : []),
    ]
  })
}

/** Slots by campaign, lane, target or buyer. */
function createSlotIndex() {
  const slots = new Map<string, Writable<Slot>[]>()
  return {
    add(kind: SubjectKind, id: string, slot: Writable<Slot>): Writable<Slot> {
      const key = `${kind} ${id}`
      const known = slots.get(key)
      if (known) known.push(slot)
      else slots.set(key, [slot])
      return slot
    },
    of: (kind: SubjectKind, id: string): readonly Writable<Slot>[] => slots.get(`${kind} ${id}`) ?? [],
  }
}

/** The slots of calls and accepted posts on campaigns, lanes, targets and buyers. Changes return what they add to the counts. */
export function createCallSlots() {
  const calls = new Map<string, CallSlots>()
  const reservations = new Map<string, readonly Writable<Slot>[]>()
  const { add, of: slotsOf } = createSlotIndex()

  function dial(callId: string, claim: Claim): readonly Count[] {
    const call = calls.get(callId)
    if (!call) throw new Error(`${callId} claimed a target before it was admitted.`)
    const { target, buyer, occurredAt, capCountsOn } = claim
    call.dial = {
      claim,
      target: add('target', target.id, newSlot(occurredAt, capCountsOn)),
      buyer: add('buyer', buyer.id, newSlot(occurredAt, capCountsOn)),
    }
    return claimCounts(claim)
  }

  /** Changes the slots of a call's dial. */
  const change = (callId: string, next: (slot: Slot) => Partial<Slot>) =>
    changeDial(calls.get(callId)?.dial ?? null, next)

  /** A dial that nobody answered frees its slots; one that was answered is over. */
  const endDial = (callId: string) =>
    change(callId, ({ state }) => ({ live: false, state: state === 'held' ? 'freed' : state }))

  function settle(callId: string, settledAt: string, books: Books): readonly Count[] {
    const { converted, revenueCents, payoutCents } = books
    const lane = calls.get(callId)?.lane
    if (lane) Object.assign(lane, { settledAt, cents: payoutCents })
    return change(callId, () => ({ settledAt, converted, cents: revenueCents }))
  }

  return {
    admit(callId: string, { campaignId, publisherId, laneKeyId, at }: Admission): void {
      const admission = { campaign: newSlot(at, 'admitted'), lane: newSlot(at, 'admitted') }
      calls.set(callId, { ...admission, dial: null })
      add('campaign', campaignId ?? '', admission.campaign)
      if (publisherId !== null) add('lane', laneIdOf(campaignId, publisherId, laneKeyId), admission.lane)
    },
    /** A post holds a slot of its campaign, lane, target and buyer, which counts nowhere. */
    reserve({ auctionId, campaignId, publisherId, laneKeyId, targetId, buyerId, at }: Reserved): void {
      const held = (kind: SubjectKind, id: string) => add(kind, id, newSlot(at, 'connected'))
      reservations.set(auctionId, [
        held('campaign', campaignId),
        held('lane', laneIdOf(campaignId, publisherId, laneKeyId)),
        held('target', targetId),
        held('buyer', buyerId),
      ])
    },
    /** The slots of a post are free: its call has arrived, or will not come. */
    endReservation(auctionId: string): void {
      for (const slot of reservations.get(auctionId) ?? []) Object.assign(slot, { live: false, state: 'freed' })
    },
    dial,
    connect: (callId: string) => change(callId, () => ({ state: 'connected' })),
    endDial,
    settle,
    release(callId: string): readonly Count[] {
      const call = calls.get(callId)
      for (const slot of call ? [call.campaign, call.lane] : []) slot.live = false
      return endDial(callId)
    },
    resetCaps(targetId: string): void {
      for (const slot of slotsOf('target', targetId)) slot.capsReset = true
    },
    slotsOf: (kind: SubjectKind, id: string): readonly Slot[] => slotsOf(kind, id),
    /** The latest dial of a call. */
    dialOf: (callId: string): Dial | null => calls.get(callId)?.dial ?? null,
  }
}
