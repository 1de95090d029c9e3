import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { type Count, createCallSlots } from './call-slots.ts'

const admitted = ledgerEvents.CallAdmitted.pick({ arrival: true, claim: true })
const claimed = ledgerEvents.TargetClaimed.pick({ callId: true, claim: true })
const recounted = ledgerEvents.CallRecounted.pick({ callId: true, occurredAt: true, after: true })

/** The slots that a ledger's events take and free, without the ledger's own counters. */
export function createSlotBook() {
  const slots = createCallSlots()

  const on: Readonly<Record<string, (data: unknown) => readonly Count[]>> = {
    CallAdmitted(data) {
      const { arrival, claim } = admitted.parse(data)
      const { callId, campaign, publisher, laneKeyId, occurredAt: at } = arrival
      slots.admit(callId, { campaignId: campaign?.id ?? null, publisherId: publisher?.id ?? null, laneKeyId, at })
      return claim ? slots.dial(callId, claim) : []
    },
    TargetClaimed(data) {
      const { callId, claim } = claimed.parse(data)
      return slots.dial(callId, claim)
    },
    ClaimReleased: (data) => slots.endDial(ledgerEvents.ClaimReleased.parse(data).callId),
    ClaimConnected: (data) => slots.connect(ledgerEvents.ClaimConnected.parse(data).callId),
    CallReleased: (data) => slots.release(ledgerEvents.CallReleased.parse(data).callId),
    CallCounted(data) {
      const { callId, occurredAt, ...books } = ledgerEvents.CallCounted.parse(data)
      return slots.settle(callId, occurredAt, books)
    },
    CallRecounted(data) {
      const { callId, occurredAt, after } = recounted.parse(data)
      return slots.settle(callId, occurredAt, after)
    },
    OfferReserved(data) {
      const { occurredAt: at, ...reserved } = ledgerEvents.OfferReserved.parse(data)
      slots.reserve({ ...reserved, at })
      return []
    },
    ReservationReleased(data) {
      slots.endReservation(ledgerEvents.ReservationReleased.parse(data).auctionId)
      return []
    },
    TargetCapsReset(data) {
      slots.resetCaps(ledgerEvents.TargetCapsReset.parse(data).targetId)
      return []
    },
  }

  return {
    /** Applies the next event of the ledger; returns what it adds to the counts of targets and buyers. */
    apply: ({ type, data }: Pick<NewEvent, 'type' | 'data'>): readonly Count[] => on[type]?.(data) ?? [],
    slotsOf: slots.slotsOf,
    dialOf: slots.dialOf,
  }
}
