import type { EventOf } from '../../kernel/event.ts'
import type { CountedIds, CounterChange, EventCounts } from './counters.ts'
import type { Claim } from './decision.ts'
import type { ledgerEvents } from './ledger-events.ts'
import type { OpenCall } from './open-call.ts'
import type { Reservation } from './won-offer.ts'

export type LedgerEvent = EventOf<typeof ledgerEvents>
type DataOf<Type extends LedgerEvent['type']> = Extract<LedgerEvent, { readonly type: Type }>['data']

const NO_IDS: CountedIds = { campaignId: null, publisherId: null, targetId: null, buyerId: null }
const NO_CHANGE: CounterChange = { live: 0, counted: 0, held: 0, slotsAt: '', cents: null, centsAt: '' }
const CALL_ENDED: CounterChange = { ...NO_CHANGE, live: -1 }
const NO_CHANGES = { campaign: null, lane: null, target: null, buyer: null } as const

/** A dial holds its slot from the claim on; the slot counts at once where claims count. */
function claimChange({ capCountsOn, occurredAt }: Claim): CounterChange {
  const counted = capCountsOn === 'claimed' ? 1 : 0
  return { ...NO_CHANGE, live: 1, counted, held: 1 - counted, slotsAt: occurredAt }
}

/** An arrival counts on its campaign and lane at once, on target and buyer by the rule of the claim. */
function admissionCounts({ arrival, claim }: DataOf<'CallAdmitted'>): EventCounts {
  const arrived = { ...NO_CHANGE, live: 1, counted: 1, slotsAt: arrival.occurredAt }
  const dialed = claim && claimChange(claim)
  return {
    campaignId: arrival.campaign?.id ?? null,
    publisherId: arrival.publisher?.id ?? null,
    laneKeyId: arrival.laneKeyId,
    targetId: claim?.target.id ?? null,
    buyerId: claim?.buyer.id ?? null,
    campaign: arrived,
    lane: arrived,
    target: dialed,
    buyer: dialed,
  }
}

function claimCounts({ claim }: DataOf<'TargetClaimed'>): EventCounts {
  const dialed = claimChange(claim)
  const ids = { ...NO_IDS, targetId: claim.target.id, buyerId: claim.buyer.id }
  return { ...ids, campaign: null, lane: null, target: dialed, buyer: dialed }
}

/** A dial ended: the slot that it held is free again, unless the call connected or the claim itself counted. */
function dialEnd(open: OpenCall | null): Pick<EventCounts, 'target' | 'buyer'> {
  const { claim = null, connected = false, resetSince = false } = open ?? {}
  if (!claim || connected || claim.capCountsOn === 'claimed') return { target: CALL_ENDED, buyer: CALL_ENDED }
  const freed = { ...CALL_ENDED, held: -1, slotsAt: claim.occurredAt }
  return { target: resetSince ? CALL_ENDED : freed, buyer: freed }
}

/** Counts of a dial that ended without an answer. */
export function claimReleasedCounts(
  { targetId, buyerId }: Pick<DataOf<'ClaimReleased'>, 'targetId' | 'buyerId'>,
  open: OpenCall | null,
): EventCounts {
  const { target, buyer } = dialEnd(open)
  return { campaignId: null, publisherId: null, targetId, buyerId, campaign: null, lane: null, target, buyer }
}

/** The slot that the dial held counts, in the windows of the dial, where connections count. */
function connectionCounts(data: DataOf<'ClaimConnected'>): EventCounts {
  const { targetId, buyerId, capCountsOn, claimedAt, resetSince } = data
  const change = capCountsOn === 'connected' ? { ...NO_CHANGE, counted: 1, held: -1, slotsAt: claimedAt } : null
  return { ...NO_IDS, ...NO_CHANGES, targetId, buyerId, target: resetSince ? null : change, buyer: change }
}

function releaseCounts(data: DataOf<'CallReleased'>, open: OpenCall | null): EventCounts {
  const { campaignId, publisherId, laneKeyId, targetId, buyerId } = data
  const { target, buyer } = dialEnd(open)
  return {
    campaignId,
    publisherId,
    laneKeyId,
    targetId,
    buyerId,
    campaign: CALL_ENDED,
    lane: CALL_ENDED,
    target,
    buyer,
  }
}

type Settled = CountedIds & Pick<DataOf<'CallCounted'>, 'occurredAt' | 'claimedAt' | 'resetSince'>

/** Books count on the UTC day of the settlement: revenue on target and buyer, payout on the lane. */
function booksCounts(
  data: Settled,
  slots: { readonly counted: number; readonly held: number },
  cents: Cents,
): EventCounts {
  const { campaignId, publisherId, laneKeyId, targetId, buyerId, occurredAt, claimedAt, resetSince } = data
  const { counted, held } = claimedAt === null ? NO_CHANGE : slots
  const sale = { live: 0, counted, held, slotsAt: claimedAt ?? '', cents: cents.revenueCents, centsAt: occurredAt }
  const lane = { ...NO_CHANGE, cents: cents.payoutCents, centsAt: occurredAt }
  return {
    campaignId,
    publisherId,
    laneKeyId,
    targetId,
    buyerId,
    campaign: null,
    lane,
    target: resetSince ? null : sale,
    buyer: sale,
  }
}

interface Cents {
  readonly revenueCents: number
  readonly payoutCents: number
}

/** Settlement: where conversions count, the slot that was held since the dial counts or is given back. */
function settlementCounts(data: DataOf<'CallCounted'>): EventCounts {
  const slots = data.capCountsOn === 'converted' ? { counted: data.converted ? 1 : 0, held: -1 } : NO_CHANGE
  return booksCounts(data, slots, data)
}

/** Changed books count by the difference, in the windows in which the call counts. */
function recountCounts(data: DataOf<'CallRecounted'>): EventCounts {
  const { before, after, capCountsOn } = data
  const counted = capCountsOn === 'converted' ? Number(after.converted) - Number(before.converted) : 0
  const revenueCents = after.revenueCents - before.revenueCents
  const payoutCents = after.payoutCents - before.payoutCents
  return booksCounts(data, { counted, held: 0 }, { revenueCents, payoutCents })
}

/** A reservation holds a slot of every cap, in the windows of the post; it takes or gives back (`by` 1 or -1). */
function reservationCounts(
  { campaignId, publisherId, laneKeyId, targetId, buyerId, resetSince }: Omit<Reservation, 'auctionId' | 'reservedAt'>,
  slotsAt: string,
  by: 1 | -1,
): EventCounts {
  const held = { ...NO_CHANGE, live: by, held: by, slotsAt }
  const target = resetSince ? { ...NO_CHANGE, live: by } : held
  return { campaignId, publisherId, laneKeyId, targetId, buyerId, campaign: held, lane: held, target, buyer: held }
}

/** What a reservation gives back when it ends. */
export function reservationReleasedCounts(reservation: Reservation): EventCounts {
  return reservationCounts(reservation, reservation.reservedAt, -1)
}

/**
 * What an event counts, on which counters and in which windows; null for one that counts nothing. The one table for the
 * ledger's fold, the projection of the counters, and cap notifications. `open` is the call in the ledger before the
 * event: only the ledger counts held slots, and only it needs `open`. `TargetCapsReset` is no count: it starts a
 * target's counter from zero.
 */
export function countsOf(event: LedgerEvent, open: OpenCall | null = null): EventCounts | null {
  switch (event.type) {
    case 'CallAdmitted':
      return admissionCounts(event.data)
    case 'TargetClaimed':
      return claimCounts(event.data)
    case 'ClaimReleased':
      return claimReleasedCounts(event.data, open)
    case 'ClaimConnected':
      return connectionCounts(event.data)
    case 'CallReleased':
      return releaseCounts(event.data, open)
    case 'CallCounted':
      return settlementCounts(event.data)
    case 'CallRecounted':
      return recountCounts(event.data)
    case 'OfferReserved':
      return reservationCounts({ ...event.data, resetSince: false }, event.data.occurredAt, 1)
    case 'ReservationReleased':
      return reservationReleasedCounts(event.data)
    default:
      return null
  }
}
