import { simulatedCallEvents } from '../../../src/adapters/simulator/simulated-call.ts'
import { auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Rule } from './rule.ts'

const { CallAdmitted, CallRefused, CallCounted, CallRecounted, ClaimReleased, TargetFailureCounted } = ledgerEvents
const { BooksChanged, RecordingSaved } = callEvents
const arrival = CallAdmitted.pick({ arrival: true })
const dialled = callEvents.TargetDialed.pick({ callId: true, claim: true })

/** What an event does that may be done once only: one sentence for each thing. */
type Deed = (event: RecordedEvent) => readonly string[]

const ofStream: Deed = ({ type, stream }) => [`${type} of ${stream}`]
const decision: Deed = ({ data }) => [`decision on ${arrival.parse(data).arrival.callId}`]

const DEEDS: Readonly<Record<string, Deed>> = {
  CallAdmitted: decision,
  CallRefused: ({ data }) => [`decision on ${CallRefused.parse(data).arrival.callId}`],
  CallArrived: ofStream,
  TargetAnswered: ofStream,
  CallUnrouted: ofStream,
  CallEnded: ofStream,
  CallSettled: ofStream,
  ConversionPosted: ofStream,
  UsageCharged: ofStream,
  SimulatedReleaseTaken: ofStream,
  SimulatedCallEnded: ofStream,
  CallAdjusted: ({ stream, meta }) => [`adjustment ${meta.commandId} of ${stream}`],
  RecordingSaved: ({ data, stream }) => [
    `recording ${RecordingSaved.parse(data).recording.carrierRecordingId} of ${stream}`,
  ],
  BooksChanged(event) {
    const { callId, change } = BooksChanged.parse(event.data)
    return [`change ${change} of ${callId}`]
  },
  CallCounted: ({ data }) => [`count of ${CallCounted.parse(data).callId}`],
  CallRecounted({ data }) {
    const { callId, change } = CallRecounted.parse(data)
    return [`recount of ${callId} at change ${change}`]
  },
  TargetDialed({ data }) {
    const { callId, claim } = dialled.parse(data)
    return [`dial ${callId}#${claim.attempt}`]
  },
  SimulatedDialTaken({ data, stream }) {
    const { commandId, attempt } = simulatedCallEvents.SimulatedDialTaken.parse(data)
    return [`taken dial ${stream}#${attempt}`, `command ${commandId}`]
  },
  ClaimReleased({ data }) {
    const { callId, attempt } = ClaimReleased.parse(data)
    return [`failure ${callId}#${attempt}`]
  },
  TargetFailureCounted({ data }) {
    const { callId, attempt } = TargetFailureCounted.parse(data)
    return [`failure ${callId}#${attempt}`]
  },
  OfferReserved: ({ data }) => [`reservation of ${ledgerEvents.OfferReserved.parse(data).auctionId}`],
  ReservationReleased: ({ data }) => [
    `release of the reservation of ${ledgerEvents.ReservationReleased.parse(data).auctionId}`,
  ],
  AuctionHeld: ({ stream, data }) => [`auction ${stream}`, `number ${auctionEvents.AuctionHeld.parse(data).ref}`],
  PingRefused: ({ stream, data }) => [`auction ${stream}`, `number ${auctionEvents.PingRefused.parse(data).ref}`],
  OfferPosted: ofStream,
  OfferClaimed: ofStream,
  OfferExpired: ofStream,
  WinConfirmed: ofStream,
  WalletCharged: ({ data }) => [`charge ${walletEvents.WalletCharged.parse(data).reference}`],
}

/** Everything happens once: each decision, dial, answer, end, settlement, count, conversion, recording, charge, auction and reservation. */
export function onceRule(): Rule {
  const done = new Set<string>()
  return {
    see: (event) =>
      (DEEDS[event.type]?.(event) ?? []).flatMap((deed) => {
        if (done.has(deed)) return [`${deed} happened twice`]
        done.add(deed)
        return []
      }),
  }
}

/** A call dials nobody after its end. */
export function noDialAfterEndRule(): Rule {
  const ended = new Set<string>()
  return {
    see({ type, stream }) {
      if (type === 'CallEnded') ended.add(stream)
      return type === 'TargetDialed' && ended.has(stream) ? [`${stream} dialled after its end`] : []
    },
  }
}

const WINDOW_LENGTHS = { hourly: 13, daily: 10, monthly: 7, lifetime: 0, 'daily revenue': 10 } as const

/** A reached cap is announced once in its window; after a reset, or when its limit has changed, it is announced again. */
export function capNoticeRule(): Rule {
  const announced = new Map<string, number>()
  const resets = new Map<string, number>()
  return {
    see({ type, data }) {
      if (type === 'TargetCapsReset') {
        const { targetId } = ledgerEvents.TargetCapsReset.parse(data)
        resets.set(targetId, (resets.get(targetId) ?? 0) + 1)
      }
      if (type !== 'TargetCapped') return []
      const { scope, window, countedAt, figures, target, buyer } = ledgerEvents.TargetCapped.parse(data)
      const id = scope === 'target' ? target.id : buyer.id
      const limit = 'cap' in figures ? figures.cap : figures.capCents
      const key = [id, window, countedAt.slice(0, WINDOW_LENGTHS[window]), resets.get(id) ?? 0].join(' ')
      if (announced.get(key) === limit) return [`The ${window} cap ${limit} of ${scope} ${id} was announced twice`]
      announced.set(key, limit)
      return []
    },
  }
}
