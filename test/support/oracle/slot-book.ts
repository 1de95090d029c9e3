import type { Claim } from '../../../src/domain/routing/decision.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import type { Slot } from './slots.ts'

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

  function dial(callId: string, claim: Claim): void {
    const call = calls.get(callId)
    if (!call) throw new Error(`${callId} claimed a target before it was admitted.`)
    const { target, buyer, occurredAt, capCountsOn } = claim
    call.dial = {
      claim,
      target: add('target', target.id, newSlot(occurredAt, capCountsOn)),
      buyer: add('buyer', buyer.id, newSlot(occurredAt, capCountsOn)),
    }
  }

  /** A dial that nobody answered frees its slots; one that was answered is over. */
  function endDial(callId: string): void {
    const open = calls.get(callId)?.dial
    for (const slot of open ? [open.target, open.buyer] : [])
      Object.assign(slot, { live: false, state: slot.state === 'held' ? 'freed' : slot.state })
  }

  function settle(callId: string, settledAt: string, books: Books): void {
    const call = calls.get(callId)
    if (!call) return
    Object.assign(call.lane, { settledAt, cents: books.payoutCents })
    const sold = { settledAt, converted: books.converted, cents: books.revenueCents }
    if (call.dial) for (const slot of [call.dial.target, call.dial.buyer]) Object.assign(slot, sold)
  }

  const on: Readonly<Record<string, (data: unknown) => void>> = {
    CallAdmitted(data) {
      const { arrival, claim } = admitted.parse(data)
      const { callId, campaign, publisher, occurredAt } = arrival
      const [campaignSlot, lane] = [newSlot(occurredAt, 'admitted'), newSlot(occurredAt, 'admitted')]
      calls.set(callId, { campaign: campaignSlot, lane, dial: null })
      add('campaign', campaign?.id ?? '', campaignSlot)
      if (publisher) add('lane', `${campaign?.id}:${publisher.id}`, lane)
      if (claim) dial(callId, claim)
    },
    TargetClaimed(data) {
      const { callId, claim } = claimed.parse(data)
      dial(callId, claim)
    },
    ClaimReleased: (data) => endDial(ledgerEvents.ClaimReleased.parse(data).callId),
    ClaimConnected(data) {
      const open = calls.get(ledgerEvents.ClaimConnected.parse(data).callId)?.dial
      for (const slot of open ? [open.target, open.buyer] : []) slot.state = 'connected'
    },
    CallReleased(data) {
      const { callId } = ledgerEvents.CallReleased.parse(data)
      const call = calls.get(callId)
      for (const slot of call ? [call.campaign, call.lane] : []) slot.live = false
      endDial(callId)
    },
    CallCounted(data) {
      const { callId, occurredAt, ...books } = ledgerEvents.CallCounted.parse(data)
      settle(callId, occurredAt, books)
    },
    CallRecounted(data) {
      const { callId, occurredAt, after } = recounted.parse(data)
      settle(callId, occurredAt, after)
    },
    TargetCapsReset(data) {
      const { targetId } = ledgerEvents.TargetCapsReset.parse(data)
      for (const slot of slots.get(`target ${targetId}`) ?? []) slot.capsReset = true
    },
  }

  return {
    /** Takes in the next event of the ledger. */
    apply: ({ type, data }: Pick<NewEvent, 'type' | 'data'>): void => on[type]?.(data),
    slotsOf: (kind: SubjectKind, id: string): readonly Slot[] => slots.get(`${kind} ${id}`) ?? [],
    /** The latest dial of a call. */
    dialOf: (callId: string): Dial | null => calls.get(callId)?.dial ?? null,
  }
}
export type SlotBook = ReturnType<typeof createSlotBook>
