import { z } from 'zod'
import { type WorkspaceState, workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { bids, refuseUnasked, unusedBidsEvents } from '../../src/domain/routing/bids.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { callLease } from '../../src/domain/routing/call-lease.ts'
import { callLookups, callMemory } from '../../src/domain/routing/call-memory.ts'
import { callerLookups, createLastSeen } from '../../src/domain/routing/caller-memory.ts'
import { callerWindowsOfArrival } from '../../src/domain/routing/caller-windows.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { decideArrival } from '../../src/domain/routing/decide-arrival.ts'
import { type LedgerState, ledger, releaseReservation } from '../../src/domain/routing/ledger.ts'
import { senderOf } from '../../src/domain/routing/sender.ts'
import { isOfferLive, type WonOffer, wonOffer } from '../../src/domain/routing/won-offer.ts'
import { e164, sha256 } from '../../src/domain/shared/fields.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { getEntry } from '../../src/kernel/windowed-map.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  carrierCallId: z.string(),
  to: e164,
  caller: e164.nullable(),
  /** SHA-256 of the routing key in a SIP call's headers; null when there is none. */
  routingKeyHash: sha256.nullable().default(null),
  /** The seed of the dry run, where there was one. */
  seed: z.int().nullable().default(null),
  /** Whether to judge what is held back of the call where no target takes it. A replay of an earlier decision does not. */
  judgesHeldBack: z.boolean().default(false),
  /** Bids that were asked for this decision. */
  bids,
  /** The offer of an auction that the call may claim. */
  offer: wonOffer.optional(),
  /** The visitor's lease that the call matches. */
  lease: callLease.optional(),
  occurredAt: instant,
})
type Input = z.infer<typeof input>

/** The offer that a call claims: one that is alive at the arrival, and which no call has claimed. */
function claimedOffer({ offer, occurredAt }: Input, { endedOffers }: LedgerState): WonOffer | null {
  return offer && isOfferLive(offer, occurredAt) && !getEntry(endedOffers, offer.auctionId) ? offer : null
}

/** The number that was called, and the campaign and publisher of the call; undefined for an unknown number. */
function calledNumberOf(workspace: WorkspaceState, input: Input, ledger: LedgerState) {
  const { to, routingKeyHash, occurredAt } = input
  const number = workspace.numbers.get(workspace.numberIds.get(to) ?? '')
  const offer = claimedOffer(input, ledger)
  const unclaimedOffer = offer ? null : (input.offer ?? null)
  return (
    number && { number, offer, unclaimedOffer, sender: senderOf(workspace, number, routingKeyHash, occurredAt, offer) }
  )
}

/** The slots of a claimed offer's post are free for its call, in the append that admits it. */
function reservationEvents({ reservations }: LedgerState, offer: WonOffer | null, occurredAt: string) {
  const held = offer && reservations.get(offer.auctionId)
  return held
    ? [{ type: 'ReservationReleased' as const, data: { ...held, occurredAt, reason: 'claimed' as const } }]
    : []
}

/** Routes an arriving call: gates, terms, plan and first claim. Refused until the bidders that it needs were asked. Idempotent by call id. */
export const routeCall = defineCommand({
  name: 'route-call',
  entity: ledger,
  input,
  reads: { workspace, blocklist, wallet },
  rejects: ['number-not-found', 'bids-needed'],
  lookups: (input, state, reads) => {
    const called = calledNumberOf(reads.workspace, input, state)
    const questions = called ? callerWindowsOfArrival(reads.workspace, called.sender, input.caller) : []
    return [...callLookups(state, input.callId), ...callerLookups(state, questions, input.occurredAt)]
  },
  decide(input, state, { reads, lookUp, seed: drawn, now }) {
    const { callId, carrierCallId, routingKeyHash, caller, bids: given = [], lease = null, occurredAt: at } = input
    const { judgesHeldBack } = input
    const seed = input.seed ?? drawn
    if (getEntry(state.seenCalls, callId) || lookUp(callMemory, callId))
      return unusedBidsEvents(callId, at, given, state.calls.get(callId)?.arrival)
    const called = calledNumberOf(reads.workspace, input, state)
    if (!called) return refuse('number-not-found')
    const ledger = called.offer ? releaseReservation(state, called.offer.auctionId, now) : state
    const arriving = {
      ...called,
      lease,
      callId,
      carrierCallId,
      routingKeyHash,
      caller,
      bids: given,
      at,
      judgesHeldBack,
    }
    const decided = decideArrival({ ...reads, ...arriving, ledger, lastSeen: createLastSeen(state, lookUp), seed })
    if ('targetIds' in decided) return refuseUnasked(decided)
    return [...reservationEvents(state, called.offer, at), ...withCapNotifications(ledger, [decided], reads.workspace)]
  },
})
