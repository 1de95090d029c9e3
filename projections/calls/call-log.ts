import type { z } from 'zod'
import { callEvents } from '../../src/domain/calls/call.ts'
import { type CallRecord, callRecord, outcomeAfterBooks, reverseDigits } from '../../src/domain/calls/call-record.ts'
import { csvRowOf } from '../../src/domain/calls/csv-row.ts'
import { changeStoredTags, storedTag, storedTagsOf } from '../../src/domain/calls/tags.ts'
import { reasonSentence } from '../../src/domain/routing/reasons.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { columnSpecOf } from '../shared/column-spec.ts'

/** The counts of each outcome; a converted call is a connected one too. */
const COUNTS: Readonly<
  Record<
    CallRecord['outcome'],
    Pick<CallRecord, 'liveCount' | 'connectedCount' | 'convertedCount' | 'unroutedCount' | 'missedCount'>
  >
> = {
  live: { liveCount: 1, connectedCount: 0, convertedCount: 0, unroutedCount: 0, missedCount: 0 },
  connected: { liveCount: 0, connectedCount: 1, convertedCount: 0, unroutedCount: 0, missedCount: 0 },
  converted: { liveCount: 0, connectedCount: 1, convertedCount: 1, unroutedCount: 0, missedCount: 0 },
  unrouted: { liveCount: 0, connectedCount: 0, convertedCount: 0, unroutedCount: 1, missedCount: 0 },
  missed: { liveCount: 0, connectedCount: 0, convertedCount: 0, unroutedCount: 0, missedCount: 1 },
}

type BookFigures = Pick<CallRecord, 'converted' | 'revenueCents' | 'payoutCents'> & {
  readonly source: CallRecord['conversionSource']
}

/** A call with its books as of an instant. */
function applyBooks(
  doc: CallRecord,
  { converted, revenueCents, payoutCents, source }: BookFigures,
  at: string,
): CallRecord {
  const outcome = outcomeAfterBooks(doc.outcome, converted)
  return {
    ...doc,
    outcome,
    ...COUNTS[outcome],
    converted,
    revenueCents,
    payoutCents,
    profitCents: revenueCents - payoutCents,
    convertedAt: converted ? (doc.convertedAt ?? at) : null,
    conversionSource: source,
  }
}

function applyTags(doc: CallRecord, { changes, source }: z.infer<typeof callEvents.CallTagged>): CallRecord {
  return {
    ...doc,
    tags: changeStoredTags(doc.tags, changes),
    tagSources: changeStoredTags(doc.tagSources, changes, () => source),
  }
}

/** Numbers that calls are filtered, sorted and summed by. */
const SUMMED = ['startedMs', 'talkSeconds', 'revenueCents', 'payoutCents', 'usageCents'] as const
/** Values that calls are filtered, sorted and grouped by. */
const GROUPED = [
  'status',
  'outcome',
  'reasonCode',
  'hasRecording',
  'numberId',
  'callerState',
  'attribution',
  'conversionSource',
  'campaign.id',
  'publisher.id',
  'buyer.id',
  'target.id',
] as const

/** One document for each call, by call id: the call log's row, the live board's row, and the facts of the call's own page. */
export const callLog = defineProjection({
  name: 'call-log',
  // 8: visitors' sessions.
  version: 8,
  events: callEvents,
  doc: callRecord,
  indexes: [
    // The list, the live board, which looks back a few hours only, and the export, which reads the index alone.
    { workspaceId: 1, startedMs: -1, _id: 1, csvRow: 1 },
    // The last call of each number.
    { workspaceId: 1, numberId: 1, startedMs: -1 },
    // The caller and the reference: the selective filters over very many calls.
    { workspaceId: 1, callerReversed: 1 },
    { workspaceId: 1, ref: 1 },
  ],
  columns: ['seq', 'liveCount', ...SUMMED, ...GROUPED],
  shared: GROUPED,
  key: ({ data }) => ('arrival' in data ? data.arrival.callId : data.callId),
  create: {
    CallArrived({ data: { arrival }, meta }): CallRecord | null {
      if (meta.workspaceId === null) return null
      const tags = Object.entries(arrival.tags)
      return {
        workspaceId: meta.workspaceId,
        seq: arrival.seq,
        ref: arrival.ref,
        startedAt: arrival.occurredAt,
        startedMs: Date.parse(arrival.occurredAt),
        status: 'routing',
        outcome: 'live',
        callerNumber: arrival.caller,
        callerReversed: arrival.caller && reverseDigits(arrival.caller),
        callerState: arrival.callerState,
        callerCity: arrival.callerCity,
        dialedNumber: arrival.dialedNumber,
        numberId: arrival.numberId,
        numberPoolId: arrival.numberPoolId,
        ...(arrival.dniSessionId !== undefined && { dniSessionId: arrival.dniSessionId }),
        campaign: arrival.campaign,
        publisher: arrival.publisher,
        buyer: null,
        target: null,
        talkSeconds: 0,
        ringSeconds: 0,
        converted: false,
        revenueCents: 0,
        payoutCents: 0,
        profitCents: 0,
        usageCents: 0,
        reasonCode: null,
        reasonSentence: null,
        hasRecording: false,
        tags: storedTagsOf(arrival.tags),
        tagSources: Object.fromEntries(tags.map(([key, { source }]) => [storedTag(key), source])),
        direction: 'inbound',
        attribution: arrival.attribution,
        routingMode: arrival.routingMode,
        deliveryMode: null,
        attemptCount: 0,
        answeredAt: null,
        answeredMs: null,
        endedAt: null,
        endedMs: null,
        hungUpBy: null,
        settledAt: null,
        convertedAt: null,
        conversionSource: null,
        ...COUNTS.live,
        csvRow: '',
      }
    },
  },
  update: {
    TargetDialed: (doc, { data: { claim } }): CallRecord => ({
      ...doc,
      status: 'ringing',
      target: claim.target,
      buyer: claim.buyer,
      deliveryMode: claim.deliveryMode,
      attemptCount: claim.attempt,
    }),
    TargetFailed: (doc, { data }): CallRecord => ({
      ...doc,
      status: 'routing',
      ringSeconds: doc.ringSeconds + data.rangSeconds,
    }),
    TargetAnswered: (doc, { data }): CallRecord => ({
      ...doc,
      status: 'in_progress',
      ringSeconds: doc.ringSeconds + data.rangSeconds,
      answeredAt: data.occurredAt,
      answeredMs: Date.parse(data.occurredAt),
    }),
    CallUnrouted: (doc, { data: { unrouted } }): CallRecord => ({
      ...doc,
      status: 'routing',
      buyer: null,
      deliveryMode: unrouted.action === 'forward' ? 'forward' : doc.deliveryMode,
      reasonCode: unrouted.reason,
      reasonSentence: reasonSentence(unrouted.reason, unrouted.sentence),
    }),
    CallEnded: (doc, { data }) => ({
      ...doc,
      status: data.status,
      outcome: data.outcome,
      ...COUNTS[data.outcome],
      target: data.target,
      buyer: data.buyer,
      talkSeconds: data.talkSeconds,
      ringSeconds: data.ringSeconds,
      endedAt: data.occurredAt,
      endedMs: Date.parse(data.occurredAt),
      hungUpBy: data.hungUpBy,
    }),
    CallSettled: (doc, { data }) => ({ ...applyBooks(doc, data, data.occurredAt), settledAt: data.occurredAt }),
    BooksChanged: (doc, { data }) => applyBooks(doc, data, data.occurredAt),
    CallTagged: (doc, { data }) => applyTags(doc, data),
    UsageCharged: (doc, { data }) => ({ ...doc, usageCents: data.usageCents }),
    RecordingSaved: (doc) => ({ ...doc, hasRecording: true }),
  },
  derive: (doc) => ({ ...doc, csvRow: csvRowOf(doc) }),
})

/** A number of each outcome. */
const byOutcome = (count: keyof (typeof COUNTS)['live']) => ({
  of: 'outcome',
  numbers: Object.fromEntries(Object.entries(COUNTS).map(([outcome, counts]) => [outcome, counts[count]])),
})

/** What `src/runtime/columns` keeps of the calls, so that no sum over them reads documents. */
export const callColumns = {
  ...columnSpecOf(callLog, { time: 'startedMs', summed: SUMMED, grouped: GROUPED }),
  derived: {
    profitCents: { plus: 'revenueCents', minus: 'payoutCents' },
    connectedCount: byOutcome('connectedCount'),
    convertedCount: byOutcome('convertedCount'),
    unroutedCount: byOutcome('unroutedCount'),
    missedCount: byOutcome('missedCount'),
    liveCount: byOutcome('liveCount'),
  },
} as const
