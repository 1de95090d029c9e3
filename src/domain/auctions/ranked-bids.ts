import { z } from 'zod'
import { id } from '../../kernel/wire.ts'
import type { Bid } from '../bidding/bid.ts'
import { outboundPing, outboundStatus } from '../bidding/outbound-ping.ts'
import { targetKind } from '../demand/target.ts'
import type { Planned } from '../routing/decision.ts'
import { payoutFor } from '../routing/terms.ts'
import { type Named, named } from '../shared/fields.ts'
import { formatDollars } from '../shared/format.ts'
import { PING } from '../shared/limits.ts'
import { outboundOfAuction } from './outbound-of-auction.ts'
import { expiredAt, ownOffer, type PingHistory, type ShownAuction } from './ping-history.ts'

const { bidCents, rawBidCents, httpStatus, latencyMs, rejectCode, rejectReason, callId } = outboundPing.shape

/** What a target offered for a ping (Document 2, Outbound ping): `id` is null for one with a fixed price, which is not asked. */
export const rankedBid = z
  .object({
    id: id.nullable(),
    rank: z.int(),
    status: outboundStatus,
    targetKind,
    /** Whether the target is the workspace's own: always. */
    own: z.literal(true),
    target: named,
    latencyMs,
    buyer: named.nullable(),
    bidCents,
    rawBidCents,
    /** What the lane's terms give its publisher at this price. */
    payoutCents: z.int().nullable(),
    durationThresholdSeconds: z.int().nullable(),
    httpStatus,
    rejectCode,
    rejectReason,
    sentence: z.string(),
    callId,
  })
  .meta({ id: 'RankedBid' })
export type RankedBid = Readonly<z.infer<typeof rankedBid>>

/** What is known today of a target that an auction names. */
export interface KnownTarget {
  readonly kind: z.infer<typeof targetKind>
  readonly buyer: Named | null
}

/** How a request to a bidder has gone on since its auction. */
export type BidProgress = Pick<RankedBid, 'status' | 'callId'>

/** What the offers of an auction are ranked with. */
export interface RankInput {
  readonly history: PingHistory
  readonly now: string
  readonly targetOf: (targetId: string) => KnownTarget | null
  /** Null where nothing is known beyond the auction itself. */
  readonly progressOf: (bidId: string) => BidProgress | null
}

type Unranked = Omit<RankedBid, 'rank'>

const payoutAt = ({ terms }: ShownAuction, cents: number | null) =>
  terms === null || cents === null ? null : payoutFor(terms, cents)

function askedBid(given: Bid, held: ShownAuction, { targetOf, progressOf }: RankInput): Unranked {
  const { status, rejectReason, sentence, target, buyer } = outboundOfAuction(given, held)
  const { bidId, latencyMs, bidCents, rawBidCents, durationThresholdSeconds, httpStatus, rejectCode } = given
  return {
    id: bidId,
    status,
    targetKind: targetOf(given.target.id)?.kind ?? 'external_rtb',
    own: true,
    target: target ?? given.target,
    latencyMs,
    buyer,
    bidCents,
    rawBidCents,
    payoutCents: payoutAt(held, bidCents),
    durationThresholdSeconds,
    httpStatus,
    rejectCode,
    rejectReason,
    sentence,
    callId: null,
    ...progressOf(bidId),
  }
}

/** Where the offer of a target with a fixed price stands. */
function progressOfFixed(targetId: string, { history, now }: RankInput): BidProgress {
  const offer = ownOffer(history)
  if (offer?.bidId !== null || offer.target.id !== targetId) return { status: 'lost', callId: null }
  if (history.claimed) return { status: 'claimed', callId: history.claimed.callId }
  return { status: expiredAt(history, now) === null ? 'won' : 'expired', callId: null }
}

function fixedPrice(planned: Planned, held: ShownAuction, input: RankInput): Unranked {
  const { targetId: id, targetName: name, revenueCents, durationThresholdSeconds } = planned
  const known = input.targetOf(id)
  return {
    id: null,
    targetKind: known?.kind ?? 'static',
    own: true,
    target: { id, name },
    latencyMs: null,
    buyer: known?.buyer ?? null,
    bidCents: revenueCents,
    rawBidCents: null,
    payoutCents: payoutAt(held, revenueCents),
    durationThresholdSeconds,
    httpStatus: null,
    rejectCode: null,
    rejectReason: null,
    sentence: `Target ${name} has a fixed price of ${formatDollars(revenueCents)}.`,
    ...progressOfFixed(id, input),
  }
}

/** Whether a planned target that was not asked offers a fixed price. A bidder without a bid was left unasked. */
function hasFixedPrice({ targetId, bid }: Planned, { history, targetOf }: RankInput): boolean {
  const offer = ownOffer(history)
  if (history.held?.skipped.some((skip) => skip.targetId === targetId)) return false
  if (offer?.target.id === targetId) return offer.bidId === null
  return bid === undefined && (targetOf(targetId)?.kind ?? 'external_rtb') !== 'external_rtb'
}

/** The planned targets of an auction without one: its bids, the highest first. */
const byPrice = (bids: readonly Bid[]) =>
  bids.toSorted((one, other) => (other.bidCents ?? -1) - (one.bidCents ?? -1)).map(({ target }) => target.id)

/**
 * The offers of an auction by rank: the winner, then in the order in which the call tries them, and those without a price at
 * the end. At most as many as the detail shows.
 */
export function rankedBids(input: RankInput): readonly RankedBid[] {
  const { held } = input.history
  if (held === null) return []
  const { bids = [], plan } = held
  const asked = new Map(bids.map((given) => [given.target.id, given]))
  const planned = new Map(plan.map((one) => [one.targetId, one]))
  const order = [...new Set([...plan.map(({ targetId }) => targetId), ...byPrice(bids)])]
  const offers = order.flatMap((targetId): readonly Unranked[] => {
    const [given, place] = [asked.get(targetId), planned.get(targetId)]
    if (given) return [askedBid(given, held, input)]
    return place && hasFixedPrice(place, input) ? [fixedPrice(place, held, input)] : []
  })
  const [priced, others] = [
    offers.filter(({ bidCents }) => bidCents !== null),
    offers.filter(({ bidCents }) => bidCents === null),
  ]
  return [...priced, ...others].slice(0, PING.shownBids).map((offer, index) => ({ ...offer, rank: index + 1 }))
}
