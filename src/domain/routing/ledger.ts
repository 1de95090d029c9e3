import { Map as PersistentMap } from 'immutable'
import type { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { createWindowedMap, deleteEntry, getEntry, type WindowedMap } from '../../kernel/windowed-map.ts'
import type { Bid } from '../bidding/bid.ts'
import { setEntry } from '../shared/windowed-map.ts'
import {
  admissionSightings,
  type CallerSighting,
  connectionSightings,
  type KeyedSighting,
  laterSighting,
} from './callers.ts'
import { type CountedCall, countedCallOf, recountedCallOf } from './counted-call.ts'
import { addCounts, type Counters, counterKey, NO_COUNTER } from './counters.ts'
import { claimReleasedCounts, countsOf, type LedgerEvent, reservationReleasedCounts } from './counts.ts'
import { type Claim, laneKeyOf, type Planned } from './decision.ts'
import { ledgerEvents } from './ledger-events.ts'
import { addNotifiedCap, NO_NOTIFIED_CAPS, type NotifiedCaps } from './notified-caps.ts'
import { isAwaitingSettlement, type OpenCall } from './open-call.ts'
import {
  type DialFailure,
  healthAfterBid,
  healthAfterFailure,
  isTargetFailure,
  type TargetHealth,
} from './target-health.ts'
import type { Reservation, WonOffer } from './won-offer.ts'

/** A dial: its attempt, and the target and buyer that it was to reach. */
export type Dial = Pick<Claim, 'attempt' | 'target' | 'buyer' | 'externalRef'>

export interface LedgerState {
  /** Number of the newest call; 0 before the first. */
  readonly seq: number
  readonly counters: Counters
  /** Open calls by id. */
  readonly calls: PersistentMap<string, OpenCall>
  /** Ids of the calls that were routed. */
  readonly seenCalls: WindowedMap<true>
  /** Latest sightings of callers by campaigns, lanes and targets, by the keys of `callers.ts`. */
  readonly callers: WindowedMap<CallerSighting>
  /** Health of the targets that have failed since a call last connected there, by target. */
  readonly health: PersistentMap<string, TargetHealth>
  /** Dials that rang when their call was released, by call: their outcome is not known yet. */
  readonly dialsWithoutOutcome: WindowedMap<Dial>
  /** Caps whose `TargetCapped` was appended, by `counterKey`. */
  readonly notifiedCaps: PersistentMap<string, NotifiedCaps>
  /** What is counted of settled calls, by call. */
  readonly countedCalls: WindowedMap<CountedCall>
  /** Revisions at which targets' caps were last reset, by target. */
  readonly resets: PersistentMap<string, number>
  /** Slots that accepted posts hold, by auction. */
  readonly reservations: PersistentMap<string, Reservation>
  /** Auctions whose offers calls have claimed, or which were voided. */
  readonly endedOffers: WindowedMap<true>
  /** Auctions whose bids were counted for the health of targets. */
  readonly countedAuctions: WindowedMap<true>
}

const initial: LedgerState = {
  seq: 0,
  counters: PersistentMap(),
  calls: PersistentMap(),
  seenCalls: createWindowedMap(),
  callers: createWindowedMap(),
  health: PersistentMap(),
  dialsWithoutOutcome: createWindowedMap(),
  notifiedCaps: PersistentMap(),
  countedCalls: createWindowedMap(),
  resets: PersistentMap(),
  reservations: PersistentMap(),
  endedOffers: createWindowedMap(),
  countedAuctions: createWindowedMap(),
}

/** The ledger without the slots that a post holds. */
export function releaseReservation(state: LedgerState, auctionId: string, now: string): LedgerState {
  const held = state.reservations.get(auctionId)
  if (!held) return state
  return {
    ...state,
    counters: addCounts(state.counters, reservationReleasedCounts(held), now),
    reservations: state.reservations.delete(auctionId),
  }
}

/** The ledger after a call claimed an offer. */
function endOffer(state: LedgerState, offer: WonOffer | undefined, now: string): LedgerState {
  return offer ? { ...state, endedOffers: setEntry(state.endedOffers, offer.auctionId, true, now) } : state
}

/** The ledger after a dial ended without an answer: the slots that it held are free for the next target. */
export function releaseClaim(state: LedgerState, callId: string, now: string): LedgerState {
  const open = state.calls.get(callId)
  if (!open?.claim) return state
  const ids = { targetId: open.claim.target.id, buyerId: open.claim.buyer.id }
  return {
    ...state,
    counters: addCounts(state.counters, claimReleasedCounts(ids, open), now),
    calls: state.calls.set(callId, { ...open, claim: null }),
  }
}

function countersAfter(counters: Counters, event: LedgerEvent, open: OpenCall | null, now: string): Counters {
  const counts = countsOf(event, open)
  return counts === null ? counters : addCounts(counters, counts, now)
}

/** Keeps the latest sighting of each caller, in whatever order calls are played. */
function addSightings(callers: LedgerState['callers'], sightings: readonly KeyedSighting[], now: string) {
  return sightings.reduce((map, [key, sighting]) => {
    const latest = laterSighting(getEntry(map, key), sighting)
    return latest ? setEntry(map, key, latest, now) : map
  }, callers)
}

const dialOf = ({ attempt, target, buyer, externalRef }: Claim): Dial => ({ attempt, target, buyer, externalRef })

/** The targets that a call tries after its first, in order: the eligible ones, then once more those that were busy. */
function restOfPlan({ plan, skipped, claim }: z.infer<typeof ledgerEvents.CallAdmitted>): readonly Planned[] {
  if (!claim) return []
  const reasons = new Map(skipped.map(({ targetId, reason }) => [targetId, reason]))
  const eligible = plan.filter(({ targetId }) => targetId !== claim.target.id && !reasons.has(targetId))
  const busy = plan.filter(({ targetId }) => reasons.get(targetId) === 'concurrency')
  return [...eligible, ...busy]
}

/** The health of targets after the requests to their bidders. */
function applyBids(health: LedgerState['health'], bids: readonly Bid[] = []): LedgerState['health'] {
  return bids.reduce((map, bid) => {
    const after = healthAfterBid(map.get(bid.target.id) ?? null, bid)
    return after === null || after.consecutiveFailures === 0 ? map.delete(bid.target.id) : map.set(bid.target.id, after)
  }, health)
}

/** A target's health after one more failed dial; a caller who gave up is no failure of the target. */
function applyFailure(state: LedgerState, targetId: string, failure: DialFailure): LedgerState {
  if (!isTargetFailure(failure.outcome)) return state
  const health = healthAfterFailure(state.health.get(targetId) ?? null, failure)
  return { ...state, health: state.health.set(targetId, health) }
}

/**
 * Admissions, claims and counts of a workspace: `ledger-<workspaceId>`. In this field's terms it reserves capacity (the
 * money book is the wallet). It serializes routing decisions, so no call cap is ever exceeded (Architecture §2).
 */
export const ledger = defineEntity({
  name: 'ledger',
  // 7: accepted posts hold slots.
  version: 7,
  longLived: true,
  events: ledgerEvents,
  initial,
  // 2: the lease of the visitor who was shown the number; calls before have none.
  upcasts: { CallAdmitted: [(data) => data], CallRefused: [(data) => data] },
  evolve: {
    CallAdmitted: (state, event) => {
      const { arrival, settings, claim } = event.data
      const { at } = event.meta
      const { callId } = arrival
      const open: OpenCall = {
        arrival,
        settings,
        plan: restOfPlan(event.data),
        claim,
        connected: false,
        resetSince: false,
        attempts: claim ? 1 : 0,
        live: true,
      }
      return {
        ...endOffer(state, event.data.offer, at),
        seq: arrival.seq,
        counters: countersAfter(state.counters, event, null, at),
        calls: state.calls.set(callId, open),
        seenCalls: setEntry(state.seenCalls, callId, true, at),
        callers: addSightings(state.callers, admissionSightings(arrival), at),
        health: applyBids(state.health, event.data.bids),
      }
    },
    BidsUnused: (state, { data: { bids } }) => ({ ...state, health: applyBids(state.health, bids) }),
    CallRefused: (state, { data: { arrival, bids, offer }, meta }) => ({
      ...endOffer(state, offer, meta.at),
      health: applyBids(state.health, bids),
      seq: arrival.seq,
      seenCalls: setEntry(state.seenCalls, arrival.callId, true, meta.at),
    }),
    TargetClaimed: (state, event) => {
      const { callId, claim } = event.data
      const open = state.calls.get(callId)
      const behind = open ? open.plan.findIndex(({ targetId }) => targetId === claim.target.id) + 1 : 0
      return {
        ...state,
        counters: countersAfter(state.counters, event, null, event.meta.at),
        health: applyBids(state.health, event.data.bids),
        calls: open
          ? state.calls.set(callId, {
              ...open,
              plan: open.plan.slice(behind),
              claim,
              resetSince: false,
              attempts: claim.attempt,
            })
          : state.calls,
      }
    },
    PlanSpent: (state, { data: { callId, bids } }) => {
      const open = state.calls.get(callId)
      const health = applyBids(state.health, bids)
      return open ? { ...state, health, calls: state.calls.set(callId, { ...open, plan: [] }) } : { ...state, health }
    },
    ClaimReleased: (state, { data, meta }) =>
      applyFailure(releaseClaim(state, data.callId, meta.at), data.targetId, data),
    TargetFailureCounted: (state, { data }) => ({
      ...applyFailure(state, data.targetId, data),
      dialsWithoutOutcome: deleteEntry(state.dialsWithoutOutcome, data.callId),
    }),
    TargetCapped: (state, { data, meta }) => {
      const key = counterKey(data.scope, data[data.scope].id)
      const notified = addNotifiedCap(state.notifiedCaps.get(key, NO_NOTIFIED_CAPS), data, meta.at)
      return { ...state, notifiedCaps: state.notifiedCaps.set(key, notified) }
    },
    // The slots stay taken: they were held, and count now.
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
    CallReleased: (state, event) => {
      const { callId } = event.data
      const { at } = event.meta
      const open = state.calls.get(callId)
      if (!open) return state
      const counters = countersAfter(state.counters, event, open, at)
      if (isAwaitingSettlement(open)) {
        return { ...state, counters, calls: state.calls.set(callId, { ...open, live: false }) }
      }
      const { dialsWithoutOutcome: dials } = state
      return {
        ...state,
        counters,
        calls: state.calls.delete(callId),
        dialsWithoutOutcome: open.claim ? setEntry(dials, callId, dialOf(open.claim), at) : dials,
      }
    },
    CallCounted: (state, event) => {
      const { data, revision, meta } = event
      if (!state.calls.get(data.callId)?.claim) return state
      return {
        ...state,
        counters: countersAfter(state.counters, event, null, meta.at),
        calls: state.calls.delete(data.callId),
        countedCalls: setEntry(state.countedCalls, data.callId, countedCallOf(data, revision), meta.at),
      }
    },
    CallRecounted: (state, event) => {
      const { data, meta } = event
      const counted = recountedCallOf(getEntry(state.countedCalls, data.callId), data)
      return {
        ...state,
        counters: countersAfter(state.counters, event, null, meta.at),
        countedCalls: setEntry(state.countedCalls, data.callId, counted, meta.at),
      }
    },
    TargetCapsReset: (state, { data: { targetId }, revision }) => {
      const key = counterKey('target', targetId)
      return {
        ...state,
        resets: state.resets.set(targetId, revision),
        counters: state.counters.update(key, NO_COUNTER, ({ live }) => ({ ...NO_COUNTER, live })),
        notifiedCaps: state.notifiedCaps.delete(key),
        calls: state.calls.map((open) => (open.claim?.target.id === targetId ? { ...open, resetSince: true } : open)),
        reservations: state.reservations.map((held) =>
          held.targetId === targetId ? { ...held, resetSince: true } : held,
        ),
      }
    },
    OfferReserved: (state, event) => {
      const { auctionId, occurredAt: reservedAt, campaignId, publisherId, laneKeyId, targetId, buyerId } = event.data
      const ids = { auctionId, campaignId, publisherId, ...laneKeyOf({ laneKeyId }), targetId, buyerId }
      return {
        ...state,
        counters: countersAfter(state.counters, event, null, event.meta.at),
        reservations: state.reservations.set(auctionId, { ...ids, reservedAt, resetSince: false }),
      }
    },
    ReservationReleased: (state, { data: { auctionId, reason }, meta }) => {
      const freed = releaseReservation(state, auctionId, meta.at)
      return reason === 'claimed'
        ? freed
        : { ...freed, endedOffers: setEntry(freed.endedOffers, auctionId, true, meta.at) }
    },
    BidsCounted: (state, { data: { auctionId, bids }, meta }) => ({
      ...state,
      health: applyBids(state.health, bids),
      countedAuctions: setEntry(state.countedAuctions, auctionId, true, meta.at),
    }),
  },
})
