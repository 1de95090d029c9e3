import type { z } from 'zod'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'

/** An event of Document 2 that must be sent: what it is about, and what it must say beside the rest of its payload. */
export interface DueEvent {
  readonly name: string
  readonly callId: string | null
  readonly campaignId: string | null
  readonly publisherId: string | null
  readonly says: Readonly<Record<string, unknown>>
  /** Whether it is due by the call's own history, and not by the books of its target. */
  readonly ofCall: boolean
}

/** What of each event's payload is compared: what makes it another event than its kin. */
export const SAYINGS: Readonly<Record<string, readonly string[]>> = {
  'call.incoming': ['buyerId', 'targetId', 'answeredAt', 'revenueCents'],
  'call.routed': ['attemptNo', 'targetId', 'buyerId'],
  'call.failover': ['attemptNo', 'targetId', 'reason', 'sipCode', 'nextTargetId', 'nextTargetName'],
  'call.connected': ['attemptNo', 'targetId', 'buyerId', 'answeredAt', 'talkSeconds'],
  'call.completed': ['reason', 'converted', 'revenueCents', 'payoutCents'],
  'call.converted': ['reason', 'converted', 'revenueCents', 'payoutCents'],
  'call.unrouted': ['status', 'buyerId', 'reason', 'sentence', 'action'],
  'target.capped': ['targetId', 'buyerId', 'scope', 'window', 'cap', 'count', 'capCents', 'cents'],
  'target.down': ['targetId', 'buyerId', 'reason', 'consecutiveFailures'],
  'wallet.low': ['agencyId', 'reason'],
}

const arrived = callEvents.CallArrived.pick({ arrival: true })
const dialled = callEvents.TargetDialed.pick({ callId: true, claim: true })
const unrouted = callEvents.CallUnrouted.pick({ callId: true, unrouted: true })
const failed = callEvents.TargetFailed
type Failure = z.infer<typeof failed>

/** What a call was when it arrived, and the dial that failed last and has led to nothing yet. */
interface KnownCall {
  readonly campaignId: string | null
  readonly publisherId: string | null
  failure: Failure | null
}

/** The third failed dial in a row takes a target down (Document 2, Event details). */
const DOWN_AT = 3

/**
 * The events that a log must have sent, in its order: Document 2, "Events", written down once more, type by type of the log's
 * events, without what the platform decides by.
 */
export function dueEvents(events: readonly RecordedEvent[]): readonly DueEvent[] {
  const calls = new Map<string, KnownCall>()
  const due: DueEvent[] = []

  function add(name: string, callId: string, says: DueEvent['says'], ofCall = true): void {
    const { campaignId = null, publisherId = null } = calls.get(callId) ?? {}
    due.push({ name, callId, campaignId, publisherId, says, ofCall })
  }

  /** A target did not take the call: the next is tried, or there is none. */
  function addFailover(callId: string, next: { readonly id: string; readonly name: string } | null): void {
    const known = calls.get(callId)
    if (!known?.failure) return
    const { attempt: attemptNo, target, outcome: reason, sipCode } = known.failure
    const named = { nextTargetId: next?.id ?? null, nextTargetName: next?.name ?? null }
    known.failure = null
    add('call.failover', callId, { attemptNo, targetId: target.id, reason, sipCode, ...named })
  }

  /** The call's campaign and publisher are known from the decision on it on. */
  function know(data: unknown): void {
    const { callId, campaign, publisher } = arrived.parse(data).arrival
    if (calls.has(callId)) return
    calls.set(callId, { campaignId: campaign?.id ?? null, publisherId: publisher?.id ?? null, failure: null })
  }

  const on: Readonly<Record<string, (event: RecordedEvent) => void>> = {
    CallAdmitted: ({ data }) => know(data),
    CallRefused({ data, meta }) {
      know(data)
      const { reason } = ledgerEvents.CallRefused.pick({ unrouted: true }).parse(data).unrouted
      if (reason !== 'workspace_unfunded') return
      const none = { callId: null, campaignId: null, publisherId: null }
      due.push({ name: 'wallet.low', ...none, says: { agencyId: meta.workspaceId, reason }, ofCall: false })
    },
    CallArrived({ data }) {
      const { callId } = arrived.parse(data).arrival
      const fresh = { buyerId: null, targetId: null, answeredAt: null, revenueCents: 0 }
      add('call.incoming', callId, fresh)
    },
    TargetDialed({ data }) {
      const { callId, claim } = dialled.parse(data)
      addFailover(callId, claim.target)
      add('call.routed', callId, { attemptNo: claim.attempt, targetId: claim.target.id, buyerId: claim.buyer.id })
    },
    TargetFailed({ data }) {
      const failure = failed.parse(data)
      const known = calls.get(failure.callId)
      if (known) known.failure = failure
      // The caller has hung up: nobody is tried any more.
      if (failure.outcome === 'abandoned') addFailover(failure.callId, null)
    },
    TargetAnswered({ data }) {
      const { callId, attempt, target, buyer, occurredAt } = callEvents.TargetAnswered.parse(data)
      const says = {
        attemptNo: attempt,
        targetId: target.id,
        buyerId: buyer.id,
        answeredAt: occurredAt,
        talkSeconds: 0,
      }
      add('call.connected', callId, says)
    },
    CallUnrouted({ data }) {
      const { callId, unrouted: end } = unrouted.parse(data)
      addFailover(callId, null)
      const { reason, sentence, action } = end
      add('call.unrouted', callId, { status: 'rejected', buyerId: null, reason, sentence, action })
    },
    CallSettled({ data }) {
      const { callId, reason, converted, revenueCents, payoutCents } = callEvents.CallSettled.parse(data)
      const says = { reason, converted, revenueCents, payoutCents }
      add('call.completed', callId, says)
      if (converted) add('call.converted', callId, says)
    },
    BooksChanged({ data }) {
      const { callId, before, note, ...books } = callEvents.BooksChanged.parse(data)
      const { reason, converted, revenueCents, payoutCents } = books
      if (converted && !before.converted)
        add('call.converted', callId, { reason: note ?? reason, converted, revenueCents, payoutCents })
    },
    TargetCapped({ data }) {
      const { callId, target, buyer, scope, window, figures } = ledgerEvents.TargetCapped.parse(data)
      add('target.capped', callId, { targetId: target.id, buyerId: buyer.id, scope, window, ...figures }, false)
    },
    TargetWentDown({ data }) {
      const { callId, target, buyer, outcome: reason } = ledgerEvents.TargetWentDown.parse(data)
      const says = { targetId: target.id, buyerId: buyer.id, reason, consecutiveFailures: DOWN_AT }
      add('target.down', callId, says, false)
    },
  }
  for (const event of events) on[event.type]?.(event)
  return due
}
