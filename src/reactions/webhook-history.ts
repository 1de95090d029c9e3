import { callLog } from '../../projections/calls/call-log.ts'
import { call, callEvents } from '../domain/calls/call.ts'
import type { CallRecord } from '../domain/calls/call-record.ts'
import { tagsOf } from '../domain/calls/tags.ts'
import type { PayloadCore } from '../domain/delivery/webhook-events.ts'
import type { Claim } from '../domain/routing/decision.ts'
import { streamOf } from '../kernel/entity.ts'
import { appendedDataOf, type RecordedEvent, type RecordedOf } from '../kernel/event.ts'
import { reduce } from '../kernel/projection.ts'
import { escapeKeys } from '../kernel/proto-key.ts'
import type { EventLog } from '../ports/event-log.ts'

/** An event of a call. */
export type CallEvent = RecordedOf<typeof callEvents>
/** The events of a call, from its arrival on, in order. */
export type CallHistory = readonly CallEvent[]

/** Events of a call's stream, in the versions that this code knows. */
export function callHistoryOf(events: readonly RecordedEvent[]): CallHistory {
  return events as readonly CallEvent[]
}

/** Events of a call that are read at once. */
const PAGE = 200

/** A call's events up to a revision, or all of them; `read` gives them in the versions that this code knows. @throws LogUnavailable */
export async function readCallHistory(
  read: EventLog['read'],
  workspaceId: string,
  callId: string,
  to = Number.MAX_SAFE_INTEGER,
): Promise<CallHistory> {
  const stream = streamOf(call, callId, workspaceId)
  const events: RecordedEvent[] = []
  while (events.length <= to) {
    const page = await read(stream, events.length, PAGE)
    events.push(...page)
    if (page.length < PAGE) break
  }
  return callHistoryOf(events.filter(({ revision }) => revision <= to))
}

/** The claims of a call's dials, in order. */
export function claimsOf(history: CallHistory): readonly Claim[] {
  return history.flatMap((event) => (event.type === 'TargetDialed' ? [event.data.claim] : []))
}

/** What the call log shows after the last of the events; null before the arrival. */
function recordOf(history: CallHistory): CallRecord | null {
  const first = history[0]
  if (first?.type !== 'CallArrived') return null
  const { callId } = first.data.arrival
  return history.reduce<CallRecord | null>((doc, event) => reduce(callLog, doc, event, callId), null)
}

/** The payload core (Document 2) of a call after the last of the events; null before the arrival. */
export function payloadCoreOf(history: CallHistory): PayloadCore | null {
  const record = recordOf(history)
  const arrived = appendedDataOf(callEvents, history, 'CallArrived')
  if (!record || !arrived) return null
  const { campaign, publisher, buyer, target } = record
  const { callId, auction } = arrived.arrival
  const claim = claimsOf(history).findLast((one) => one.target.id === target?.id)
  return {
    callId,
    ref: record.ref,
    status: record.status,
    campaignId: campaign?.id ?? null,
    campaignName: campaign?.name ?? null,
    publisherId: publisher?.id ?? null,
    publisherName: publisher?.name ?? null,
    publisherRef: auction?.publisherRef ?? null,
    buyerId: buyer?.id ?? null,
    buyerName: buyer?.name ?? null,
    targetId: target?.id ?? null,
    targetName: target?.name ?? null,
    targetExternalRef: claim?.externalRef ?? null,
    callerNumber: record.callerNumber,
    callerState: record.callerState,
    callerCity: auction ? record.callerCity : null,
    callerZip: auction?.callerZip ?? null,
    dialedNumber: record.dialedNumber,
    startedAt: record.startedAt,
    answeredAt: record.answeredAt,
    endedAt: record.endedAt,
    talkSeconds: record.talkSeconds,
    converted: record.converted,
    revenueCents: record.revenueCents,
    payoutCents: record.payoutCents,
    tags: escapeKeys(tagsOf(record.tags)) as PayloadCore['tags'],
  }
}
