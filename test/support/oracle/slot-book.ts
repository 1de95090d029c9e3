import type { Claim } from '../../../src/domain/routing/decision.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
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

type Books = { readonly converted: boolean; readonly revenueCents: number; readonly payoutCents: number }

const admitted = ledgerEvents.CallAdmitted.pick({ arrival: true, claim: true })
const claimed = ledgerEvents.TargetClaimed.pick({ callId: true, claim: true })
const recounted = ledgerEvents.CallRecounted.pick({ callId: true, occurredAt: true, after: true })

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

/** The slots that a ledger's events take and free, without the ledger's own counters. */
export function createSlotBook() {
  const calls = new Map<string, CallSlots>()
  const slots = new Map<string, Writable<Slot>[]>()

  function add(kind: SubjectKind, id: string, slot: Writable<Slot>): Writable<Slot> {
    const key = `${kind} ${id}`
    const known = slots.get(key)
    if (known) known.push(slot)
    else slots.set(key, [slot])
    return slot
  }

  function dial(callId: string, claim: Claim): readonly Count[] {
    const call = calls.get(callId)
    if (!call) throw new Error(`${callId} claimed a target before it was admitted.`)
    const { target, buyer, occurredAt, capCountsOn } = claim
    call.dial = {
      claim,
      target: add('target', target.id, newSlot(occurredAt, capCountsOn)),
      buyer: add('buyer', buyer.id, newSlot(occurredAt, capCountsOn)),
    }
    const at = occurredAt
    return capCountsOn === 'claimed'
      ? [
          { scope: 'target', id: target.id, of: 'call', at },
          { scope: 'buyer', id: buyer.id, of: 'call', at },
        ]
      : []
  }

  /** Changes the slots of a call's dial; what it adds to the counts. */
  function change(callId: string, next: (slot: Slot) => Partial<Slot>): readonly Count[] {
    const open = calls.get(callId)?.dial
    if (!open) return []
    return (['target', 'buyer'] as const).flatMap((scope): readonly Count[] => {
      const [slot, { id }] = [open[scope], open.claim[scope]]
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

  /** A dial that nobody answered frees its slots; one that was answered is over. */
  const endDial = (callId: string) =>
    change(callId, ({ state }) => ({ live: false, state: state === 'held' ? 'freed' : state }))

  function settle(callId: string, settledAt: string, books: Books): readonly Count[] {
    const { converted, revenueCents, payoutCents } = books
    const lane = calls.get(callId)?.lane
    if (lane) Object.assign(lane, { settledAt, cents: payoutCents })
    return change(callId, () => ({ settledAt, converted, cents: revenueCents }))
  }

  const on: Readonly<Record<string, (data: unknown) => readonly Count[]>> = {
    CallAdmitted(data) {
      const { arrival, claim } = admitted.parse(data)
      const { callId, campaign, publisher, occurredAt } = arrival
      const admission = { campaign: newSlot(occurredAt, 'admitted'), lane: newSlot(occurredAt, 'admitted') }
      calls.set(callId, { ...admission, dial: null })
      add('campaign', campaign?.id ?? '', admission.campaign)
      if (publisher) add('lane', `${campaign?.id}:${publisher.id}`, admission.lane)
      return claim ? dial(callId, claim) : []
    },
    TargetClaimed(data) {
      const { callId, claim } = claimed.parse(data)
      return dial(callId, claim)
    },
    ClaimReleased: (data) => endDial(ledgerEvents.ClaimReleased.parse(data).callId),
    ClaimConnected: (data) => change(ledgerEvents.ClaimConnected.parse(data).callId, () => ({ state: 'connected' })),
    CallReleased(data) {
      const { callId } = ledgerEvents.CallReleased.parse(data)
      const call = calls.get(callId)
      for (const slot of call ? [call.campaign, call.lane] : []) slot.live = false
      return endDial(callId)
    },
    CallCounted(data) {
      const { callId, occurredAt, ...books } = ledgerEvents.CallCounted.parse(data)
      return settle(callId, occurredAt, books)
    },
    CallRecounted(data) {
      const { callId, occurredAt, after } = recounted.parse(data)
      return settle(callId, occurredAt, after)
    },
    TargetCapsReset(data) {
      const { targetId } = ledgerEvents.TargetCapsReset.parse(data)
      for (const slot of slots.get(`target ${targetId}`) ?? []) slot.capsReset = true
      return []
    },
  }

  return {
    /** Takes in the next event of the ledger; what it adds to the counts of targets and buyers. */
    apply: ({ type, data }: Pick<NewEvent, 'type' | 'data'>): readonly Count[] => on[type]?.(data) ?? [],
    slotsOf: (kind: SubjectKind, id: string): readonly Slot[] => slots.get(`${kind} ${id}`) ?? [],
    /** The latest dial of a call. */
    dialOf: (callId: string): Dial | null => calls.get(callId)?.dial ?? null,
  }
}
