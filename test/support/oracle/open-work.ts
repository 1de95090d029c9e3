import { callEvents } from '../../../src/domain/calls/call.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'

const decision = ledgerEvents.CallAdmitted.pick({ arrival: true })

/** Steps that every call takes in the end, by the type of their event in its stream. */
const STEPS = ['CallArrived', 'CallEnded', 'CallSettled', 'UsageCharged'] as const
type StepType = (typeof STEPS)[number]
const isStep = (type: string): type is StepType => STEPS.some((step) => step === type)

export interface OpenWork {
  /** Ids of the calls that the ledger has decided on. */
  readonly calls: ReadonlySet<string>
  readonly apply: (event: RecordedEvent) => void
  /** What is still to be done, a sentence each: empty once everything that is due by `nowMs` has been done. */
  readonly open: (nowMs: number) => readonly string[]
}

/** Follows the work of a workspace: which calls it knows, and what is still to be done for them. */
export function createOpenWork(): OpenWork {
  const calls = new Set<string>()
  const steps = new Set<string>()
  /** When the usage of a call falls due (ms), by call. */
  const usageDueMs = new Map<string, number>()
  /** The latest change of a call's books, and the latest that the ledger has followed. */
  const changes = new Map<string, number>()
  const recounts = new Map<string, number>()
  const simulated = new Set<string>()
  /** Auctions whose post was accepted, and those whose post has been recorded, or has ended. */
  const [reserved, posted, over] = [new Set<string>(), new Set<string>(), new Set<string>()]
  /** Auctions that a call has claimed, in the ledger and on the auction. */
  const [won, claimed] = [new Set<string>(), new Set<string>()]
  let fold = emptyFold(ledger)

  const lacks = (callId: string, ...types: readonly StepType[]) =>
    types.filter((type) => !steps.has(`${type} ${callId}`)).map((type) => `${callId} lacks ${type}`)

  function decide({ data }: RecordedEvent): void {
    const { callId, auction } = decision.parse(data).arrival
    calls.add(callId)
    if (auction) won.add(auction.id)
  }

  const without = (ids: ReadonlySet<string>, done: ReadonlySet<string>, what: string) =>
    [...ids].filter((id) => !done.has(id)).map((id) => `The auction ${id} lacks ${what}`)

  /** What is still to be done about offers: every accepted post is recorded and ends, and every claim is recorded. */
  const openOffers = () => [
    ...without(reserved, posted, 'OfferPosted'),
    ...without(reserved, over, 'an end of its post'),
    ...without(won, claimed, 'OfferClaimed'),
    ...[...fold.state.reservations.keys()].map((id) => `The ledger holds slots for the auction ${id}`),
  ]

  const on: Readonly<Record<string, (event: RecordedEvent) => unknown>> = {
    CallAdmitted: decide,
    CallRefused: decide,
    OfferReserved: ({ data }) => reserved.add(ledgerEvents.OfferReserved.parse(data).auctionId),
    OfferPosted: ({ stream }) => posted.add(parseStreamName(stream).id),
    OfferExpired: ({ stream }) => over.add(parseStreamName(stream).id),
    BidVoided: ({ stream }) => over.add(parseStreamName(stream).id),
    OfferClaimed({ stream }) {
      claimed.add(parseStreamName(stream).id)
      over.add(parseStreamName(stream).id)
    },
    CallEnded({ data }) {
      const { callId, usageDueAt } = callEvents.CallEnded.parse(data)
      if (usageDueAt) usageDueMs.set(callId, Date.parse(usageDueAt))
    },
    BooksChanged({ data }) {
      const { callId, change } = callEvents.BooksChanged.parse(data)
      changes.set(callId, change)
    },
    CallRecounted({ data }) {
      const { callId, change } = ledgerEvents.CallRecounted.parse(data)
      recounts.set(callId, Math.max(change, recounts.get(callId) ?? 0))
    },
    SimulatedCallPlaced: ({ stream }) => simulated.add(stream),
    SimulatedCallEnded: ({ stream }) => simulated.delete(stream),
  }

  return {
    calls,
    apply(event) {
      on[event.type]?.(event)
      if (isStep(event.type)) steps.add(`${event.type} ${parseStreamName(event.stream).id}`)
      if (event.type in ledger.events) fold = foldEvents(ledger, fold, [event])
    },
    open(nowMs) {
      const unsettled = [...calls].flatMap((callId) => lacks(callId, 'CallArrived', 'CallEnded', 'CallSettled'))
      const unpaid = [...usageDueMs].flatMap(([callId, dueMs]) => (dueMs <= nowMs ? lacks(callId, 'UsageCharged') : []))
      const behind = [...changes].filter(([callId, change]) => (recounts.get(callId) ?? 0) < change)
      const live = [...fold.state.counters].filter(([, counter]) => counter.live !== 0)
      return [
        ...unsettled,
        ...unpaid,
        ...behind.map(([callId, change]) => `${callId} lacks CallRecounted of change ${change}`),
        ...[...simulated].map((stream) => `${stream} is still simulated`),
        ...openOffers(),
        ...live.map(([key, counter]) => `The ledger's ${key} has ${counter.live} live`),
        ...[...fold.state.calls.keys()].map((callId) => `${callId} is open in the ledger`),
      ]
    },
  }
}
