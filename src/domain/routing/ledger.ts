import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { defineEntity, type Upcast } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { figures } from '../money/figures.ts'
import { gateCode } from '../shared/call-codes.ts'
import { sha256 } from '../shared/fields.ts'
import { createWindowedMap, deleteEntry, getEntry, setEntry, type WindowedMap } from '../shared/windowed-map.ts'
import { addToCounts, type Counts, NO_COUNTS, windowsOf } from '../shared/windows.ts'
import {
  admissionSightings,
  type CallerSighting,
  connectionSightings,
  type KeyedSighting,
  laterSighting,
} from './callers.ts'
import { bookedFor, type CountedCall, countedCallOf, recountedCallOf } from './counted-call.ts'
import {
  type Arrival,
  addNumberPool,
  arrival,
  type Claim,
  claim,
  type Planned,
  planned,
  type RoutingSettings,
  routingSettings,
  skip,
  terms,
  unrouted,
} from './decision.ts'
import { addNotifiedCap, NO_NOTIFIED_CAPS, type NotifiedCaps, targetCapped } from './notified-caps.ts'
import {
  type DialFailure,
  dialFailure,
  healthAfterFailure,
  isTargetFailure,
  type TargetHealth,
  targetWentDown,
} from './target-health.ts'

const callKey = { callId: id, occurredAt: instant }
const gates = z.object({ passed: z.array(gateCode).readonly(), failed: gateCode.nullable() })
/** What a decision took beside its folds. What it was reminded of stands in the event's metadata (`recalled`). */
const inputs = z.object({ seed: z.int(), routingKeyHash: sha256.nullable() })

/** Whether the target's caps were reset after the claim: it does not count there any more, as it does on its buyer. */
const resetSince = z.boolean()

/** What a target has used of its caps, in the windows of an instant. */
export const capFigures = z.object({
  hour: z.int(),
  day: z.int(),
  month: z.int(),
  total: z.int(),
  dayRevenueCents: z.int(),
})
export type CapFigures = Readonly<z.infer<typeof capFigures>>

/** These names are the storage format. */
export const ledgerEvents = {
  CallAdmitted: z.object({
    arrival,
    gates,
    terms,
    settings: routingSettings,
    plan: z.array(planned).readonly(),
    skipped: z.array(skip).readonly(),
    claim: claim.nullable(),
    unrouted: unrouted.nullable(),
    inputs,
  }),
  CallRefused: z.object({ arrival, gates, terms, unrouted, inputs }),
  TargetClaimed: z.object({ ...callKey, claim, skipped: z.array(skip).readonly() }),
  PlanSpent: z.object({ ...callKey, skipped: z.array(skip).readonly(), unrouted }),
  ClaimReleased: z.object({ ...callKey, attempt: z.int(), targetId: id, buyerId: id, ...dialFailure.shape }),
  /** A failure that is heard of when its call has been released already: only the target's health has still to know. */
  TargetFailureCounted: z.object({ ...callKey, attempt: z.int(), targetId: id, ...dialFailure.shape }),
  TargetWentDown: targetWentDown,
  TargetCapped: targetCapped,
  ClaimConnected: z.object({
    ...callKey,
    attempt: z.int(),
    targetId: id,
    buyerId: id,
    capCountsOn: claim.shape.capCountsOn,
    /** The dial's own instant, in whose windows the call counts. */
    claimedAt: instant,
    /** Under which the campaign remembers the caller; null for a hidden one. */
    callerKey: z.string().nullable(),
    resetSince,
  }),
  CallReleased: z.object({
    ...callKey,
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    targetId: id.nullable(),
    buyerId: id.nullable(),
  }),
  CallCounted: z.object({
    ...callKey,
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    targetId: id.nullable(),
    buyerId: id.nullable(),
    capCountsOn: claim.shape.capCountsOn.nullable(),
    claimedAt: instant.nullable(),
    ...figures.shape,
    resetSince,
  }),
  /** Books that were counted read otherwise since; `occurredAt` is the settlement, in whose day they count. */
  CallRecounted: z.object({
    ...callKey,
    /** Number of the change of the books. */
    change: z.int().min(1),
    ...bookedFor.shape,
    /** As it was counted before. */
    before: figures,
    after: figures,
    /** Revision at which the call was counted first, where that is known. */
    revision: z.int().nullable(),
    resetSince,
  }),
  TargetCapsReset: z.object({ targetId: id, targetName: z.string(), occurredAt: instant, cleared: capFigures }),
}

/** Before a target's caps could be reset, none had been. */
const addResetSince: Upcast = (data) => ({ ...z.looseObject({}).parse(data), resetSince: false })
const seeded = z.looseObject({ inputs: z.object({ seed: z.int() }) })
/** What an arrival was reminded of stood among its inputs, and no routing key was known. */
const dropRecalled: Upcast = (data) => {
  const { inputs, ...rest } = seeded.parse(data)
  return { ...rest, inputs: { seed: inputs.seed, routingKeyHash: null } }
}
/** Before failures were told of with their SIP code, nothing was known of it. */
const addSipCode: Upcast = (data) => ({ ...z.looseObject({}).parse(data), sipCode: null, retryAfterSeconds: null })

/** What is counted of a target, buyer, lane or campaign. */
export interface Counter {
  /** Calls on it now. */
  readonly live: number
  /** Slots taken in each UTC window: counted for good, or held by a dial until it is known whether they count. */
  readonly taken: Counts
  /** Slots taken since ever, or since its caps were reset. */
  readonly total: number
  /** Revenue (of a lane: payout) by UTC day, counted at settlement. */
  readonly cents: Counts
}

export const NO_COUNTER: Counter = { live: 0, taken: NO_COUNTS, total: 0, cents: NO_COUNTS }

/** A call that still holds something: a place among the live ones, or a slot whose counting is not settled. */
export interface OpenCall {
  readonly arrival: Arrival
  readonly settings: RoutingSettings
  /** What is left of the plan, in order. */
  readonly plan: readonly Planned[]
  readonly claim: Claim | null
  readonly connected: boolean
  /** Whether the claimed target's caps were reset since: the call counts there no more. */
  readonly resetSince: boolean
  /** The attempts made so far. */
  readonly attempts: number
  readonly live: boolean
}

export interface LedgerState {
  /** Number of the newest call; 0 before the first. */
  readonly seq: number
  readonly counters: PersistentMap<string, Counter>
  readonly calls: PersistentMap<string, OpenCall>
  /** Calls that are known, by id. */
  readonly known: WindowedMap<true>
  /** Callers whom campaigns, lanes and targets have seen, by the keys of `callers.ts`. */
  readonly callers: WindowedMap<CallerSighting>
  /** Health of the targets that have failed since a call last connected there. */
  readonly health: PersistentMap<string, TargetHealth>
  /** Dials that rang when their call was released, by call: how they ended is not known here. */
  readonly unheard: WindowedMap<Dial>
  /** Caps that were told to be reached, by the keys of the counters. */
  readonly told: PersistentMap<string, NotifiedCaps>
  /** What is counted of calls, by id. */
  readonly booked: WindowedMap<CountedCall>
  /** Revisions at which the caps of targets were last reset, by target. */
  readonly resets: PersistentMap<string, number>
}

/** A dial, and whom it was to reach. */
export type Dial = Pick<Claim, 'attempt' | 'target' | 'buyer' | 'externalRef'>

export type CounterKind = 'target' | 'buyer' | 'lane' | 'campaign'

/** Keys of counters by kind and id. One made anew would be hashed anew, and a decision asks for hundreds of them. */
const keys: Readonly<Record<CounterKind, Map<string, string>>> = {
  target: new Map(),
  buyer: new Map(),
  lane: new Map(),
  campaign: new Map(),
}
const KEYS_MAX = 10_000

/** Key of a counter. A lane's id is `laneId`. */
export function counterKey(kind: CounterKind, id: string): string {
  const known = keys[kind].get(id)
  if (known !== undefined) return known
  if (keys[kind].size >= KEYS_MAX) keys[kind].clear()
  const key = `${kind}:${id}`
  keys[kind].set(id, key)
  return key
}

/** The counter of something; zeros where nothing is counted yet. */
export function counterOf({ counters }: Pick<LedgerState, 'counters'>, kind: CounterKind, id: string): Counter {
  return counters.get(counterKey(kind, id), NO_COUNTER)
}

/** Keys of the counters that an arrival moves: its campaign's, and its lane's. */
function arrivalKeys({
  campaign,
  publisher,
}: {
  readonly campaign: { readonly id: string } | null
  readonly publisher: { readonly id: string } | null
}): readonly string[] {
  if (!campaign) return []
  const lane = publisher ? [counterKey('lane', `${campaign.id}:${publisher.id}`)] : []
  return [counterKey('campaign', campaign.id), ...lane]
}

const claimKeys = ({ target, buyer }: Pick<Claim, 'target' | 'buyer'>) => [
  counterKey('target', target.id),
  counterKey('buyer', buyer.id),
]

/** Counters that a claim still counts in: its target's caps may have been reset since. */
const countingKeys = (claim: Claim, resetSince: boolean) => claimKeys(claim).slice(resetSince ? 1 : 0)

interface CounterChange {
  readonly live?: number
  /** Slots taken, in the windows of this instant. */
  readonly taken?: { readonly by: number; readonly at: string }
  readonly cents?: { readonly by: number; readonly at: string }
}

function updateCounters(
  counters: LedgerState['counters'],
  keys: readonly string[],
  { live = 0, taken, cents }: CounterChange,
  now: string,
) {
  return counters.withMutations((draft) => {
    for (const key of keys) {
      const old = draft.get(key) ?? NO_COUNTER
      draft.set(key, {
        live: Math.max(0, old.live + live),
        taken: taken ? addToCounts(old.taken, Object.values(windowsOf(taken.at)), taken.by, now) : old.taken,
        total: Math.max(0, old.total + (taken?.by ?? 0)),
        cents: cents ? addToCounts(old.cents, [windowsOf(cents.at).day], cents.by, now) : old.cents,
      })
    }
  })
}

function addClaim(counters: LedgerState['counters'], claim: Claim, now: string) {
  return updateCounters(counters, claimKeys(claim), { live: 1, taken: { by: 1, at: claim.occurredAt } }, now)
}

/** A dial ends without an answer: its place is free again, and so are its slots unless the claim itself counted. */
function removeClaim(counters: LedgerState['counters'], claim: Claim, resetSince: boolean, now: string) {
  const freed = updateCounters(counters, claimKeys(claim), { live: -1 }, now)
  if (claim.capCountsOn === 'claimed') return freed
  return updateCounters(freed, countingKeys(claim, resetSince), { taken: { by: -1, at: claim.occurredAt } }, now)
}

/** The ledger after a dial that got no answer: its slots are free for the very next look. */
export function releaseClaim(state: LedgerState, callId: string, now: string): LedgerState {
  const open = state.calls.get(callId)
  if (!open?.claim) return state
  return {
    ...state,
    counters: removeClaim(state.counters, open.claim, open.resetSince, now),
    calls: state.calls.set(callId, { ...open, claim: null }),
  }
}

/** A call without a claim, or one that counted no later than its connection, is done with when it is no longer live. */
const isAwaitingSettlement = ({ claim, connected }: OpenCall) => claim !== null && connected

/** Callers with what was just seen of one of them: the latest is what counts, in whatever order calls are played. */
function addSightings(callers: LedgerState['callers'], sightings: readonly KeyedSighting[], now: string) {
  return sightings.reduce((known, [key, seen]) => {
    const latest = laterSighting(getEntry(known, key), seen)
    return latest ? setEntry(known, key, latest, now) : known
  }, callers)
}

const dialOf = ({ attempt, target, buyer, externalRef }: Claim): Dial => ({ attempt, target, buyer, externalRef })

/** A target after one more dial to it failed. A caller who gave up says nothing of the target. */
function applyFailure(state: LedgerState, targetId: string, failure: DialFailure): LedgerState {
  if (!isTargetFailure(failure.outcome)) return state
  const health = healthAfterFailure(state.health.get(targetId) ?? null, failure)
  return { ...state, health: state.health.set(targetId, health) }
}

/** Counters after the books of a counted call changed: by what they say more or less, in the windows that it counts in. */
function applyRecount(
  counters: LedgerState['counters'],
  { before, after, occurredAt: at, ...counts }: z.infer<typeof ledgerEvents.CallRecounted>,
  now: string,
): LedgerState['counters'] {
  const { campaignId, publisherId, targetId, buyerId, capCountsOn, claimedAt, resetSince } = counts
  const slots = capCountsOn === 'converted' ? Number(after.converted) - Number(before.converted) : 0
  const taken = claimedAt !== null && slots !== 0 ? { taken: { by: slots, at: claimedAt } } : {}
  const keys = [
    ...(targetId && !resetSince ? [counterKey('target', targetId)] : []),
    ...(buyerId ? [counterKey('buyer', buyerId)] : []),
  ]
  const earned = { cents: { by: after.revenueCents - before.revenueCents, at } }
  const paid = { cents: { by: after.payoutCents - before.payoutCents, at } }
  const lane = campaignId && publisherId ? [counterKey('lane', `${campaignId}:${publisherId}`)] : []
  return updateCounters(updateCounters(counters, keys, { ...taken, ...earned }, now), lane, paid, now)
}

const initial: LedgerState = {
  seq: 0,
  counters: PersistentMap(),
  calls: PersistentMap(),
  known: createWindowedMap(),
  callers: createWindowedMap(),
  health: PersistentMap(),
  unheard: createWindowedMap(),
  told: PersistentMap(),
  booked: createWindowedMap(),
  resets: PersistentMap(),
}

/** Admissions, claims and counts of a workspace: `ledger-<workspaceId>`. It serialises routing, so that no call cap is ever exceeded. */
export const ledger = defineEntity({
  name: 'ledger',
  version: 3,
  longLived: true,
  events: ledgerEvents,
  upcasts: {
    CallAdmitted: [dropRecalled, addNumberPool],
    CallRefused: [dropRecalled, addNumberPool],
    ClaimReleased: [addSipCode],
    ClaimConnected: [addResetSince],
    CallCounted: [addResetSince],
  },
  initial,
  evolve: {
    CallAdmitted: (state, { data: { arrival, settings, plan, skipped, claim }, meta }) => {
      const { callId, occurredAt } = arrival
      const admitted = updateCounters(
        state.counters,
        arrivalKeys(arrival),
        { live: 1, taken: { by: 1, at: occurredAt } },
        meta.at,
      )
      const out = new Set([...skipped.map(({ targetId }) => targetId), claim?.target.id])
      const left = claim ? plan.filter(({ targetId }) => !out.has(targetId)) : []
      return {
        ...state,
        seq: arrival.seq,
        counters: claim ? addClaim(admitted, claim, meta.at) : admitted,
        calls: state.calls.set(callId, {
          arrival,
          settings,
          plan: left,
          claim,
          connected: false,
          resetSince: false,
          attempts: claim ? 1 : 0,
          live: true,
        }),
        known: setEntry(state.known, callId, true, meta.at),
        callers: addSightings(state.callers, admissionSightings(arrival), meta.at),
      }
    },
    CallRefused: (state, { data: { arrival }, meta }) => ({
      ...state,
      seq: arrival.seq,
      known: setEntry(state.known, arrival.callId, true, meta.at),
    }),
    TargetClaimed: (state, { data: { callId, claim }, meta }) => ({
      ...state,
      counters: addClaim(state.counters, claim, meta.at),
      calls: state.calls.update(
        callId,
        (open) =>
          open && {
            ...open,
            plan: open.plan.slice(open.plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1),
            claim,
            resetSince: false,
            attempts: claim.attempt,
          },
      ),
    }),
    PlanSpent: (state, { data: { callId } }) => ({
      ...state,
      calls: state.calls.update(callId, (open) => open && { ...open, plan: [] }),
    }),
    ClaimReleased: (state, { data, meta }) =>
      applyFailure(releaseClaim(state, data.callId, meta.at), data.targetId, data),
    TargetFailureCounted: (state, { data }) => ({
      ...applyFailure(state, data.targetId, data),
      unheard: deleteEntry(state.unheard, data.callId),
    }),
    TargetCapped: (state, { data, meta }) => {
      const key = counterKey(data.scope, data[data.scope].id)
      return { ...state, told: state.told.update(key, NO_NOTIFIED_CAPS, (told) => addNotifiedCap(told, data, meta.at)) }
    },
    ClaimConnected: (state, { data: { callId, targetId, callerKey, occurredAt }, meta }) => {
      const open = state.calls.get(callId)
      if (!open) return state
      return {
        ...state,
        calls: state.calls.set(callId, { ...open, connected: true }),
        health: state.health.delete(targetId),
        callers: addSightings(state.callers, connectionSightings(callerKey, targetId, occurredAt), meta.at),
      }
    },
    CallReleased: (state, { data: { callId }, meta }) => {
      const open = state.calls.get(callId)
      if (!open) return state
      const freed = updateCounters(state.counters, arrivalKeys(open.arrival), { live: -1 }, meta.at)
      if (!isAwaitingSettlement(open)) {
        return {
          ...state,
          counters: open.claim ? removeClaim(freed, open.claim, open.resetSince, meta.at) : freed,
          calls: state.calls.delete(callId),
          unheard: open.claim ? setEntry(state.unheard, callId, dialOf(open.claim), meta.at) : state.unheard,
        }
      }
      return {
        ...state,
        counters: updateCounters(freed, open.claim ? claimKeys(open.claim) : [], { live: -1 }, meta.at),
        calls: state.calls.set(callId, { ...open, live: false }),
      }
    },
    CallCounted: (state, { data, revision, meta }) => {
      const open = state.calls.get(data.callId)
      if (!open?.claim) return state
      const { claim, arrival, resetSince } = open
      const at = data.occurredAt
      const given =
        claim.capCountsOn === 'converted' && !data.converted ? { taken: { by: -1, at: claim.occurredAt } } : {}
      const books = { ...given, cents: { by: data.revenueCents, at } }
      const sold = updateCounters(state.counters, countingKeys(claim, resetSince), books, meta.at)
      const [, lane] = arrivalKeys(arrival)
      return {
        ...state,
        counters: lane ? updateCounters(sold, [lane], { cents: { by: data.payoutCents, at } }, meta.at) : sold,
        calls: state.calls.delete(data.callId),
        booked: setEntry(state.booked, data.callId, countedCallOf(data, revision), meta.at),
      }
    },
    CallRecounted: (state, { data, meta }) => ({
      ...state,
      counters: applyRecount(state.counters, data, meta.at),
      booked: setEntry(state.booked, data.callId, recountedCallOf(getEntry(state.booked, data.callId), data), meta.at),
    }),
    TargetCapsReset: (state, { data: { targetId }, revision }) => ({
      ...state,
      resets: state.resets.set(targetId, revision),
      counters: state.counters.update(counterKey('target', targetId), NO_COUNTER, ({ live }) => ({
        ...NO_COUNTER,
        live,
      })),
      told: state.told.delete(counterKey('target', targetId)),
      calls: state.calls.map((open) => (open.claim?.target.id === targetId ? { ...open, resetSince: true } : open)),
    }),
  },
})
