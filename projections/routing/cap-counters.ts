import { z } from 'zod'
import { type CounterKind, counterKey, type EventCounts } from '../../src/domain/routing/counters.ts'
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

function addCalls(doc: Doc, by: number, at: string, now: string): Doc {
  const { hour, day, month } = windowsOf(at)
  return {
    ...doc,
    hours: addCount(doc.hours, hour, by, now),
    days: addCount(doc.days, day, by, now),
    months: addCount(doc.months, month, by, now),
    total: doc.total + by,
  }
}

/** Cents of a lane are payout, those of targets and buyers revenue. */
function addCents(doc: Doc, cents: number, at: string, now: string): Doc {
  const { day } = windowsOf(at)
  return doc.kind === 'lane'
    ? { ...doc, payoutDays: addCount(doc.payoutDays, day, cents, now) }
    : { ...doc, revenueDays: addCount(doc.revenueDays, day, cents, now) }
}

/** A document after the counts of an event; held slots that do not count yet are left out. */
function applyCounts(doc: Doc, event: LedgerEvent, now: string): Doc {
  const change = countsOf(event)?.[doc.kind]
  if (!change) return doc
  const { live, counted, slotsAt, cents, centsAt } = change
  const inProgress = live === 0 ? doc : { ...doc, liveCalls: Math.max(0, doc.liveCalls + live) }
  const booked = cents === null ? inProgress : addCents(inProgress, cents, centsAt, now)
  return counted === 0 ? booked : addCalls(booked, counted, slotsAt, now)
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

/** Whether an event counts on a document: it may touch it by a request to its bidder alone. */
const isCounted = (event: Event, id: string) => keysOf(countsOf(event)).includes(id)

function update(doc: Doc, event: Event, id: string): Doc {
  const targetId = doc.kind === 'target' ? id.slice(counterKey('target', '').length) : null
  const isDial = bidsIn(event).length === 0 || isCounted(event, id)
  const after = { ...doc, health: healthAfter(doc.health, targetId, event) }
  return isDial ? applyCounts(after, event, event.meta.at) : after
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
      : keysOf(countsOf(event))
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
