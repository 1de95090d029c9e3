import { z } from 'zod'
import {
  type CounterChange,
  type CounterKind,
  counterKey,
  type EventCounts,
} from '../../src/domain/routing/counters.ts'
import { countsOf, type LedgerEvent } from '../../src/domain/routing/counts.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { isRetained, windowsOf } from '../../src/domain/shared/windows.ts'
import { laneCounterId } from '../../src/domain/supply/lane.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection, forAllEvents } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'
import { BID_EVENTS, bidsIn, healthAfter, healthField } from './target-health.ts'

const windowCounts = z.record(z.string(), z.int())
type WindowCounts = Readonly<z.infer<typeof windowCounts>>

const doc = z.object({
  workspaceId: id,
  kind: z.enum(['target', 'buyer', 'lane', 'campaign']),
  liveCalls: z.int(),
  /** Counted calls by UTC window: `2026-11-21T07`, `2026-11-21`, `2026-11`. */
  hours: windowCounts,
  days: windowCounts,
  months: windowCounts,
  total: z.int(),
  /** Cents by UTC day, counted at settlement. */
  revenueDays: windowCounts,
  payoutDays: windowCounts,
  health: healthField,
})
type Doc = z.infer<typeof doc>

/** Counts with `by` added in a window; windows past their retention are dropped when a new one begins. */
function addCount(counts: WindowCounts, window: string, by: number, now: string): WindowCounts {
  const before = counts[window]
  if (before !== undefined) return { ...counts, [window]: before + by }
  return Object.fromEntries([...Object.entries(counts).filter(([each]) => isRetained(each, now)), [window, by]])
}

type Draft = { -readonly [Field in keyof Doc]: Doc[Field] }

/** Applies what an event counts; held slots that do not count yet are left out. Cents of a lane are payout, others revenue. */
function applyChange(draft: Draft, { live, counted, slotsAt, cents, centsAt }: CounterChange, now: string): void {
  if (live !== 0) draft.liveCalls = Math.max(0, draft.liveCalls + live)
  if (cents !== null) {
    const days = draft.kind === 'lane' ? 'payoutDays' : 'revenueDays'
    draft[days] = addCount(draft[days], windowsOf(centsAt).day, cents, now)
  }
  if (counted === 0) return
  const { hour, day, month } = windowsOf(slotsAt)
  draft.hours = addCount(draft.hours, hour, counted, now)
  draft.days = addCount(draft.days, day, counted, now)
  draft.months = addCount(draft.months, month, counted, now)
  draft.total += counted
}

const KINDS: readonly CounterKind[] = ['target', 'buyer', 'lane', 'campaign']

/** A document without counts, for the record that its id names. */
function emptyCounters(workspaceId: string, key: string): Doc | null {
  const kind = KINDS.find((each) => key.startsWith(`${each}:`))
  if (!kind) return null
  return {
    workspaceId,
    kind,
    liveCalls: 0,
    hours: {},
    days: {},
    months: {},
    total: 0,
    revenueDays: {},
    payoutDays: {},
    health: null,
  }
}

/** Ids of the documents that an event touches. */
function keysOf(counts: EventCounts | null): readonly string[] {
  if (!counts) return []
  const { campaignId, publisherId, laneKeyId, targetId, buyerId } = counts
  return [
    ...(campaignId ? [counterKey('campaign', campaignId)] : []),
    ...(campaignId && publisherId ? [counterKey('lane', laneCounterId(campaignId, publisherId, laneKeyId))] : []),
    ...(targetId ? [counterKey('target', targetId)] : []),
    ...(buyerId ? [counterKey('buyer', buyerId)] : []),
  ]
}

const { ClaimReleased, TargetFailureCounted, ClaimConnected, CallReleased } = ledgerEvents
const { CallCounted, CallRecounted, TargetCapsReset } = ledgerEvents
const events = {
  ...BID_EVENTS,
  ClaimReleased,
  TargetFailureCounted,
  ClaimConnected,
  CallReleased,
  CallCounted,
  CallRecounted,
  TargetCapsReset,
}
type Event = RecordedOf<typeof events>

/** What the latest event counts: each of its documents asks for it. */
let latest: { readonly event: LedgerEvent | null; readonly counts: EventCounts | null } = { event: null, counts: null }

function countsOnce(event: LedgerEvent): EventCounts | null {
  if (latest.event !== event) latest = { event, counts: countsOf(event) }
  return latest.counts
}

/** What an event counts on a document: it may touch it by a request to its bidder alone. */
function changeOf(event: Event, kind: CounterKind, id: string): CounterChange | null {
  const counts = countsOnce(event)
  const isCounted = bidsIn(event).length === 0 || keysOf(counts).includes(id)
  return isCounted ? (counts?.[kind] ?? null) : null
}

function update(doc: Doc, event: Event, id: string): Doc {
  const targetId = doc.kind === 'target' ? id.slice(counterKey('target', '').length) : null
  const health = healthAfter(doc.health, targetId, event)
  const change = changeOf(event, doc.kind, id)
  if (!change && health === doc.health) return doc
  const draft: Draft = { ...doc, health }
  if (change) applyChange(draft, change, event.meta.at)
  return draft
}

function create(event: Event, id: string): Doc | null {
  const doc = emptyCounters(workspaceIdOf(event), id)
  return doc && update(doc, event, id)
}

/** Ids of the documents that an event touches: of its counters, and of the targets whose bidders were asked. */
function documentsOf(event: Event): readonly string[] {
  const counted =
    event.type === 'TargetFailureCounted' || event.type === 'TargetCapsReset'
      ? [counterKey('target', event.data.targetId)]
      : keysOf(countsOnce(event))
  return [...new Set([...counted, ...bidsIn(event).map(({ target }) => counterKey('target', target.id))])]
}

/** Counters of targets, buyers, lanes and campaigns, by `counterKey`, with the health of targets. */
export const capCounters = defineProjection({
  // The name of the collection; the usage that is billed is another thing.
  name: 'usage',
  // 4: requests to bidders of auctions count for the health of their targets, too.
  version: 4,
  events,
  doc,
  indexes: [{ workspaceId: 1, 'health.health': 1 }],
  key: documentsOf,
  // CallRecounted: an adjusted payout counts on a lane that had no admitted call yet, too.
  create: { ...forAllEvents(BID_EVENTS, create), CallRecounted: create },
  update: {
    ...forAllEvents(events, update),
    TargetCapsReset: (doc) => ({ ...doc, hours: {}, days: {}, months: {}, total: 0, revenueDays: {} }),
  },
})
