import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { defineEntity, type Upcast } from '../kernel/entity.ts'
import { cents, id, instant } from '../kernel/wire.ts'
import {
  type Arrival,
  arrival,
  type Claim,
  claim,
  dialOutcome,
  gateCode,
  type Planned,
  planned,
  type RoutingSettings,
  routingSettings,
  skip,
  terms,
  unrouted,
} from './call-facts.ts'
import { nothingRecent, type Recent, recentOf, remembered } from './recent.ts'
import { type Counts, counted, NO_COUNTS, windowsOf } from './windows.ts'

const callKey = { callId: id, occurredAt: instant }
const gates = z.object({ passed: z.array(gateCode).readonly(), failed: gateCode.nullable() })
/** What a decision found beside its folds: all that is needed to make it again. */
const inputs = z.object({ seed: z.int(), recalled: z.record(z.string(), z.unknown()) })

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
  ClaimReleased: z.object({ ...callKey, attempt: z.int(), targetId: id, buyerId: id, outcome: dialOutcome }),
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
    converted: z.boolean(),
    revenueCents: cents,
    payoutCents: cents,
    resetSince,
  }),
  TargetCapsReset: z.object({ targetId: id, targetName: z.string(), occurredAt: instant, cleared: capFigures }),
}

/** Before a target's caps could be reset, none had been. */
const neverReset: Upcast = (data) => ({ ...z.looseObject({}).parse(data), resetSince: false })

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

/** A caller's latest admission by a campaign. */
export interface CallerSeen {
  readonly at: string
  /** The target that connected; null while none has. */
  readonly targetId: string | null
}

export interface LedgerState {
  /** Number of the newest call; 0 before the first. */
  readonly seq: number
  readonly counters: PersistentMap<string, Counter>
  readonly calls: PersistentMap<string, OpenCall>
  /** Calls that are known, by id. */
  readonly known: Recent<true>
  /** Callers admitted, by `callerKey`. */
  readonly callers: Recent<CallerSeen>
}

export type Counted = 'target' | 'buyer' | 'lane' | 'campaign'

/** Key of a counter. A lane's id is `laneId`. */
export function counterKey(kind: Counted, id: string): string {
  return `${kind}:${id}`
}

/** Key under which a caller is remembered for a campaign. */
export function callerKey(campaignId: string, caller: string): string {
  return `${campaignId}:${caller}`
}

/** The counter of something; zeros where nothing is counted yet. */
export function counterOf({ counters }: Pick<LedgerState, 'counters'>, kind: Counted, id: string): Counter {
  return counters.get(counterKey(kind, id)) ?? NO_COUNTER
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

interface Move {
  readonly live?: number
  /** Slots taken, in the windows of this instant. */
  readonly taken?: { readonly by: number; readonly at: string }
  readonly cents?: { readonly by: number; readonly at: string }
}

function moved(
  counters: LedgerState['counters'],
  keys: readonly string[],
  { live = 0, taken, cents }: Move,
  now: string,
) {
  return counters.withMutations((draft) => {
    for (const key of keys) {
      const old = draft.get(key) ?? NO_COUNTER
      draft.set(key, {
        live: Math.max(0, old.live + live),
        taken: taken ? counted(old.taken, Object.values(windowsOf(taken.at)), taken.by, now) : old.taken,
        total: Math.max(0, old.total + (taken?.by ?? 0)),
        cents: cents ? counted(old.cents, [windowsOf(cents.at).day], cents.by, now) : old.cents,
      })
    }
  })
}

function claimed(counters: LedgerState['counters'], claim: Claim, now: string) {
  return moved(counters, claimKeys(claim), { live: 1, taken: { by: 1, at: claim.occurredAt } }, now)
}

/** A dial ends without an answer: its place is free again, and so are its slots unless the claim itself counted. */
function unclaimed(counters: LedgerState['counters'], claim: Claim, resetSince: boolean, now: string) {
  const freed = moved(counters, claimKeys(claim), { live: -1 }, now)
  if (claim.capCountsOn === 'claimed') return freed
  return moved(freed, countingKeys(claim, resetSince), { taken: { by: -1, at: claim.occurredAt } }, now)
}

/** The ledger after a dial that got no answer: its slots are free for the very next look. */
export function withoutClaim(state: LedgerState, callId: string, now: string): LedgerState {
  const open = state.calls.get(callId)
  if (!open?.claim) return state
  return {
    ...state,
    counters: unclaimed(state.counters, open.claim, open.resetSince, now),
    calls: state.calls.set(callId, { ...open, claim: null }),
  }
}

/** A call without a claim, or one that counted no later than its connection, is done with when it is no longer live. */
const settlesLater = ({ claim, connected }: OpenCall) => claim !== null && connected

/** Callers with one more admission: the latest is the one that counts, in whatever order calls are played. */
function seenBy(callers: LedgerState['callers'], key: string, at: string, now: string): LedgerState['callers'] {
  const known = recentOf(callers, key)
  return known && known.at > at ? callers : remembered(callers, key, { at, targetId: null }, now)
}

const initial: LedgerState = {
  seq: 0,
  counters: PersistentMap(),
  calls: PersistentMap(),
  known: nothingRecent(),
  callers: nothingRecent(),
}

/** Admissions, claims and counts of a workspace: `ledger-<workspaceId>`. It serialises routing, so that no call cap is ever exceeded. */
export const ledger = defineEntity({
  name: 'ledger',
  version: 2,
  longLived: true,
  events: ledgerEvents,
  upcasts: { ClaimConnected: [neverReset], CallCounted: [neverReset] },
  initial,
  evolve: {
    CallAdmitted: (state, { data: { arrival, settings, plan, claim }, meta }) => {
      const { callId, campaign, caller, occurredAt } = arrival
      const admitted = moved(
        state.counters,
        arrivalKeys(arrival),
        { live: 1, taken: { by: 1, at: occurredAt } },
        meta.at,
      )
      const left = claim ? plan.slice(plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1) : []
      return {
        seq: arrival.seq,
        counters: claim ? claimed(admitted, claim, meta.at) : admitted,
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
        known: remembered(state.known, callId, true, meta.at),
        callers:
          campaign && caller
            ? seenBy(state.callers, callerKey(campaign.id, caller), occurredAt, meta.at)
            : state.callers,
      }
    },
    CallRefused: (state, { data: { arrival }, meta }) => ({
      ...state,
      seq: arrival.seq,
      known: remembered(state.known, arrival.callId, true, meta.at),
    }),
    TargetClaimed: (state, { data: { callId, claim }, meta }) => ({
      ...state,
      counters: claimed(state.counters, claim, meta.at),
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
    ClaimReleased: (state, { data: { callId }, meta }) => withoutClaim(state, callId, meta.at),
    ClaimConnected: (state, { data: { callId, targetId }, meta }) => {
      const open = state.calls.get(callId)
      if (!open) return state
      const { campaign, caller, occurredAt } = open.arrival
      const key = campaign && caller && callerKey(campaign.id, caller)
      const at = (key && recentOf(state.callers, key)?.at) ?? occurredAt
      return {
        ...state,
        calls: state.calls.set(callId, { ...open, connected: true }),
        callers: key ? remembered(state.callers, key, { at, targetId }, meta.at) : state.callers,
      }
    },
    CallReleased: (state, { data: { callId }, meta }) => {
      const open = state.calls.get(callId)
      if (!open) return state
      const freed = moved(state.counters, arrivalKeys(open.arrival), { live: -1 }, meta.at)
      if (!settlesLater(open)) {
        return {
          ...state,
          counters: open.claim ? unclaimed(freed, open.claim, open.resetSince, meta.at) : freed,
          calls: state.calls.delete(callId),
        }
      }
      return {
        ...state,
        counters: moved(freed, open.claim ? claimKeys(open.claim) : [], { live: -1 }, meta.at),
        calls: state.calls.set(callId, { ...open, live: false }),
      }
    },
    CallCounted: (state, { data, meta }) => {
      const open = state.calls.get(data.callId)
      if (!open?.claim) return state
      const { claim, arrival, resetSince } = open
      const at = data.occurredAt
      const given =
        claim.capCountsOn === 'converted' && !data.converted ? { taken: { by: -1, at: claim.occurredAt } } : {}
      const books = { ...given, cents: { by: data.revenueCents, at } }
      const sold = moved(state.counters, countingKeys(claim, resetSince), books, meta.at)
      const [, lane] = arrivalKeys(arrival)
      return {
        ...state,
        counters: lane ? moved(sold, [lane], { cents: { by: data.payoutCents, at } }, meta.at) : sold,
        calls: state.calls.delete(data.callId),
      }
    },
    TargetCapsReset: (state, { data: { targetId } }) => ({
      ...state,
      counters: state.counters.update(counterKey('target', targetId), NO_COUNTER, ({ live }) => ({
        ...NO_COUNTER,
        live,
      })),
      calls: state.calls.map((open) => (open.claim?.target.id === targetId ? { ...open, resetSince: true } : open)),
    }),
  },
})
