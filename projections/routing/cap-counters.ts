import { z } from 'zod'
import { type CounterKind, counterKey, ledgerEvents } from '../../src/domain/routing/ledger.ts'
import {
  type DialFailure,
  healthAfterConnection,
  healthAfterFailure,
  isTargetFailure,
  targetHealth,
} from '../../src/domain/routing/target-health.ts'
import { isRetained, windowsOf } from '../../src/domain/shared/windows.ts'
import { laneId } from '../../src/domain/supply/lane.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const counts = z.record(z.string(), z.int())
type Counts = Readonly<z.infer<typeof counts>>

const doc = z.object({
  workspaceId: id,
  kind: z.enum(['target', 'buyer', 'lane', 'campaign']),
  liveCalls: z.int(),
  /** Counted calls by UTC window: `2026-11-21T07`, `2026-11-21`, `2026-11`. */
  hours: counts,
  days: counts,
  months: counts,
  total: z.int(),
  /** Cents by UTC day, counted at settlement. */
  revenueDays: counts,
  payoutDays: counts,
  /** How a target's dials went; null before the first has ended. */
  health: targetHealth.nullable(),
})
type Doc = z.infer<typeof doc>

/** Counts with `by` added in a window; windows that nobody can ask for any more go when a new one begins. */
function addCount(counts: Counts, window: string, by: number, now: string): Counts {
  const before = counts[window]
  if (before !== undefined) return { ...counts, [window]: before + by }
  return Object.fromEntries([...Object.entries(counts).filter(([each]) => isRetained(each, now)), [window, by]])
}

/** With one more counted call, or one fewer, in the windows of an instant. */
function addCall(doc: Doc, at: string, now: string, by: 1 | -1 = 1): Doc {
  const { hour, day, month } = windowsOf(at)
  return {
    ...doc,
    hours: addCount(doc.hours, hour, by, now),
    days: addCount(doc.days, day, by, now),
    months: addCount(doc.months, month, by, now),
    total: doc.total + by,
  }
}

const addLive = (doc: Doc, by: 1 | -1): Doc => ({ ...doc, liveCalls: Math.max(0, doc.liveCalls + by) })

/** After a dial to a target failed; a caller who gave up says nothing of the target. */
function applyFailure(doc: Doc, failure: DialFailure): Doc {
  if (doc.kind !== 'target' || !isTargetFailure(failure.outcome)) return doc
  return { ...doc, health: healthAfterFailure(doc.health, failure) }
}

const applyConnection = (doc: Doc): Doc =>
  doc.kind === 'target' ? { ...doc, health: healthAfterConnection(doc.health) } : doc

const KINDS: readonly CounterKind[] = ['target', 'buyer', 'lane', 'campaign']

/** Nothing counted yet of the record that a document's id names. */
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

interface Ids {
  readonly campaignId: string | null
  readonly publisherId: string | null
  readonly targetId: string | null
  readonly buyerId: string | null
}

function keysOf({ campaignId, publisherId, targetId, buyerId }: Partial<Ids>): readonly string[] {
  return [
    ...(campaignId ? [counterKey('campaign', campaignId)] : []),
    ...(campaignId && publisherId ? [counterKey('lane', laneId(campaignId, publisherId))] : []),
    ...(targetId ? [counterKey('target', targetId)] : []),
    ...(buyerId ? [counterKey('buyer', buyerId)] : []),
  ]
}

const { CallAdmitted, TargetClaimed, ClaimReleased, TargetFailureCounted, ClaimConnected, CallReleased } = ledgerEvents
const { CallCounted, CallRecounted, TargetCapsReset } = ledgerEvents

type Claimed = z.infer<typeof TargetClaimed>['claim']

const addClaim = (doc: Doc, claim: Claimed, now: string): Doc =>
  claim.capCountsOn === 'claimed' ? addCall(addLive(doc, 1), claim.occurredAt, now) : addLive(doc, 1)

/** A target whose caps were reset after the claim counts the call no more. */
const isCountedIn = (doc: Doc, { resetSince }: { readonly resetSince: boolean }): boolean =>
  doc.kind !== 'target' || !resetSince

/** A call that was let in counts at once on its campaign and lane; on target and buyer by the claim's own rule. */
function addAdmission(doc: Doc, { arrival, claim }: z.infer<typeof CallAdmitted>, now: string): Doc {
  if (doc.kind === 'campaign' || doc.kind === 'lane') return addCall(addLive(doc, 1), arrival.occurredAt, now)
  return claim ? addClaim(doc, claim, now) : doc
}

/** Books count by the day of their settlement: revenue of targets and buyers, payout of lanes. */
function addSettlement(doc: Doc, data: z.infer<typeof CallCounted>, now: string): Doc {
  const { day } = windowsOf(data.occurredAt)
  if (doc.kind === 'campaign') return doc
  if (doc.kind === 'lane') return { ...doc, payoutDays: addCount(doc.payoutDays, day, data.payoutCents, now) }
  if (!isCountedIn(doc, data)) return doc
  const sold = { ...doc, revenueDays: addCount(doc.revenueDays, day, data.revenueCents, now) }
  const { capCountsOn, converted, claimedAt } = data
  return capCountsOn === 'converted' && converted && claimedAt ? addCall(sold, claimedAt, now) : sold
}

/** Books that changed count by what they say more or less, where the call counts. */
function applyRecount(doc: Doc, data: z.infer<typeof CallRecounted>, now: string): Doc {
  const { before, after, capCountsOn, claimedAt } = data
  const { day } = windowsOf(data.occurredAt)
  if (doc.kind === 'campaign') return doc
  if (doc.kind === 'lane') {
    return { ...doc, payoutDays: addCount(doc.payoutDays, day, after.payoutCents - before.payoutCents, now) }
  }
  if (!isCountedIn(doc, data)) return doc
  const cents = after.revenueCents - before.revenueCents
  const sold = { ...doc, revenueDays: addCount(doc.revenueDays, day, cents, now) }
  const moves = capCountsOn === 'converted' && claimedAt !== null && after.converted !== before.converted
  return moves ? addCall(sold, claimedAt, now, after.converted ? 1 : -1) : sold
}

/** What is counted of targets, buyers, lanes and campaigns, by `counterKey`. Slots that a dial only holds do not show. */
export const capCounters = defineProjection({
  name: 'usage',
  version: 2,
  events: {
    CallAdmitted,
    TargetClaimed,
    ClaimReleased,
    TargetFailureCounted,
    ClaimConnected,
    CallReleased,
    CallCounted,
    CallRecounted,
    TargetCapsReset,
  },
  doc,
  indexes: [{ workspaceId: 1, 'health.health': 1 }],
  key({ type, data }) {
    if (type === 'CallAdmitted') {
      const { campaign, publisher } = data.arrival
      return keysOf({
        campaignId: campaign?.id ?? null,
        publisherId: publisher?.id ?? null,
        targetId: data.claim?.target.id ?? null,
        buyerId: data.claim?.buyer.id ?? null,
      })
    }
    if (type === 'TargetClaimed') return keysOf({ targetId: data.claim.target.id, buyerId: data.claim.buyer.id })
    return keysOf(data)
  },
  create: {
    CallAdmitted(event, id) {
      const doc = emptyCounters(workspaceIdOf(event), id)
      return doc && addAdmission(doc, event.data, event.meta.at)
    },
    TargetClaimed(event, id) {
      const doc = emptyCounters(workspaceIdOf(event), id)
      return doc && addClaim(doc, event.data.claim, event.meta.at)
    },
    // A payout that somebody set counts on a lane whose calls were never let in, too.
    CallRecounted(event, id) {
      const doc = emptyCounters(workspaceIdOf(event), id)
      return doc && applyRecount(doc, event.data, event.meta.at)
    },
  },
  update: {
    CallAdmitted: (doc, { data, meta }) => addAdmission(doc, data, meta.at),
    TargetClaimed: (doc, { data, meta }) => addClaim(doc, data.claim, meta.at),
    ClaimReleased: (doc, { data }) => applyFailure(addLive(doc, -1), data),
    TargetFailureCounted: (doc, { data }) => applyFailure(doc, data),
    ClaimConnected(doc, { data, meta }) {
      const healed = applyConnection(doc)
      return data.capCountsOn === 'connected' && isCountedIn(doc, data)
        ? addCall(healed, data.claimedAt, meta.at)
        : healed
    },
    CallReleased: (doc) => addLive(doc, -1),
    CallCounted: (doc, { data, meta }) => addSettlement(doc, data, meta.at),
    CallRecounted: (doc, { data, meta }) => applyRecount(doc, data, meta.at),
    TargetCapsReset: (doc) => ({ ...doc, hours: {}, days: {}, months: {}, total: 0, revenueDays: {} }),
  },
})
