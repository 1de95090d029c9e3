import { callEvents } from '../../src/domain/calls/call.ts'
import { outcomeAfterBooks, reverseDigits } from '../../src/domain/calls/call-record.ts'
import { changeStoredTags, storedTagsOf } from '../../src/domain/calls/tags.ts'
import { type CallBooks, callBooks, withChange, withTags } from '../../src/domain/reporting/book-rows.ts'
import { lostAtEnd, lostUnrouted } from '../../src/domain/reporting/lost-call.ts'
import { QUARTER_MS } from '../../src/domain/reporting/time-buckets.ts'
import { REPORT } from '../../src/domain/shared/limits.ts'
import type { Meta } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { columnSpecOf } from '../shared/column-spec.ts'

const {
  CallArrived,
  TargetDialed,
  CallUnrouted,
  CallEnded,
  CallSettled,
  BooksChanged,
  CallTagged,
  UsageCharged,
  RecordingSaved,
} = callEvents
const events = {
  CallArrived,
  TargetDialed,
  CallUnrouted,
  CallEnded,
  CallSettled,
  BooksChanged,
  CallTagged,
  UsageCharged,
  RecordingSaved,
}

interface SettledBooks {
  readonly converted: boolean
  readonly source: CallBooks['conversionSource']
  readonly revenueCents: number
  readonly payoutCents: number
}

const recordedMs = ({ at }: Meta): number => Date.parse(at)

const settled = (doc: CallBooks, { data, meta }: { readonly data: SettledBooks; readonly meta: Meta }): CallBooks => {
  const { converted, source, revenueCents, payoutCents } = data
  const outcome = outcomeAfterBooks(doc.outcome, converted)
  return withChange(doc, { outcome, conversionSource: source, revenueCents, payoutCents }, recordedMs(meta))
}

/**
 * The books by call, by call id: the dimensions that are frozen with the call, and its rows. Each end, settlement, correction,
 * conversion, recording and usage charge adds rows, none is changed. Reports are sums over rows, and reports as of an instant sums
 * over the rows that were recorded by then.
 */
export const bookRows = defineProjection({
  name: 'book-rows',
  version: 1,
  events,
  doc: callBooks,
  indexes: [{ workspaceId: 1, startedMs: -1 }],
  key: ({ data }) => ('arrival' in data ? data.arrival.callId : data.callId),
  create: {
    CallArrived({ data: { arrival }, meta }): CallBooks | null {
      if (meta.workspaceId === null) return null
      return {
        workspaceId: meta.workspaceId,
        seq: arrival.seq,
        ref: arrival.ref,
        startedMs: Date.parse(arrival.occurredAt),
        callerReversed: arrival.caller && reverseDigits(arrival.caller),
        callerState: arrival.callerState,
        dialedNumber: arrival.dialedNumber,
        numberId: arrival.numberId,
        numberPoolId: arrival.numberPoolId,
        attribution: arrival.attribution,
        campaign: arrival.campaign,
        publisher: arrival.publisher,
        buyer: null,
        target: null,
        status: 'routing',
        reasonCode: null,
        talkSeconds: 0,
        dials: null,
        lost: null,
        tags: [[0, storedTagsOf(arrival.tags)]],
        rows: '',
        outcome: 'live',
        conversionSource: null,
        hasRecording: false,
        revenueCents: 0,
        payoutCents: 0,
        usageCents: 0,
      }
    },
  },
  update: {
    TargetDialed(doc, { data: { claim } }): CallBooks {
      const { target, revenueCents } = claim
      const last = { targetId: target.id, targetName: target.name, cents: revenueCents }
      return { ...doc, dials: { first: doc.dials?.first ?? last, last } }
    },
    CallUnrouted: (doc, { data: { unrouted, heldBack } }): CallBooks => ({
      ...doc,
      reasonCode: unrouted.reason,
      lost: lostUnrouted(unrouted.reason, heldBack, doc.dials),
    }),
    CallEnded(doc, { data, meta }) {
      const { status, outcome, target, buyer, talkSeconds } = data
      const lost = lostAtEnd(outcome, doc.lost, doc.dials)
      const ended = { status, outcome, target, buyer, talkSeconds, dials: null, lost }
      return withChange(doc, ended, recordedMs(meta))
    },
    CallSettled: settled,
    BooksChanged: settled,
    CallTagged(doc, { data: { changes }, meta }) {
      return withTags(doc, changeStoredTags(doc.tags.at(-1)?.[1] ?? {}, changes), recordedMs(meta))
    },
    UsageCharged: (doc, { data: { usageCents }, meta }) => withChange(doc, { usageCents }, recordedMs(meta)),
    RecordingSaved: (doc, { meta }) => withChange(doc, { hasRecording: true }, recordedMs(meta)),
  },
})

/** Numbers and values of a call, which are the same in each of its rows. */
const OF_CALL = {
  summed: ['startedMs', 'talkSeconds', 'lost.cents'],
  grouped: [
    'status',
    'reasonCode',
    'callerState',
    'attribution',
    'numberId',
    'dialedNumber',
    'numberPoolId',
    'campaign.id',
    'campaign.name',
    'publisher.id',
    'publisher.name',
    'buyer.id',
    'buyer.name',
    'target.id',
    'target.name',
    'lost.reason',
    'lost.targetId',
    'lost.targetName',
  ],
} as const

/** What `src/runtime/columns` keeps of the rows, so that no report reads documents. */
export const bookColumns = {
  ...columnSpecOf(bookRows, { time: 'startedMs', ...OF_CALL }),
  rows: {
    path: 'rows',
    perDocument: REPORT.rowsPerCall,
    columns: {
      recordedMs: 'number',
      calls: 'number',
      outcome: 'code',
      conversionSource: 'code',
      hasRecording: 'code',
      revenueCents: 'number',
      payoutCents: 'number',
      usageCents: 'number',
    },
    summed: ['calls', 'revenueCents', 'payoutCents', 'usageCents'],
    latest: 'recordedMs',
  },
  derived: {
    quarter: { units: 'startedMs', size: QUARTER_MS },
    connected: { of: 'outcome', numbers: { connected: 1, converted: 1 }, times: 'calls' },
    converted: { of: 'outcome', numbers: { converted: 1 }, times: 'calls' },
    unrouted: { of: 'outcome', numbers: { unrouted: 1 }, times: 'calls' },
    missed: { of: 'outcome', numbers: { missed: 1 }, times: 'calls' },
    totalTalkSeconds: { product: ['calls', 'talkSeconds'] },
    lostCents: { product: ['calls', 'lost.cents'] },
  },
} as const
