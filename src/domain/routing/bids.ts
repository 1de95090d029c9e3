import { z } from 'zod'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { type Bid, bid, bidSkipReason } from '../bidding/bid.ts'
import type { BidSubject } from '../bidding/bid-request.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import type { Target } from '../demand/target.ts'
import type { Arrival, Planned, Skip } from './decision.ts'

/** Bids that a routing decision was given, one for each bidder that was asked for it; absent where none was. */
export const bids = z.array(bid).min(1).readonly().optional()

/** The field of the bids that a decision was given; none where no bidder was asked. */
export const bidsField = (given: readonly Bid[]) => (given.length === 0 ? {} : { bids: given })

/** The fields of bids that were asked for a call after its arrival. */
export function askedBidsFields(
  given: readonly Bid[],
  { ref, campaign, publisher }: Pick<Arrival, 'ref' | 'campaign' | 'publisher'>,
) {
  return given.length === 0 ? {} : { bids: given, asked: { ref, campaign, publisher } }
}

/** A question to bidders that a decision needs answered before it can be made. */
export interface BidQuestion {
  /** The call: the hash of its caller is left to whoever asks. */
  readonly subject: BidSubject
  readonly targetIds: readonly string[]
  /** Longest time for an answer (ms). */
  readonly budgetMs: number
  /** Which of the call's decisions asks: 0 is that on the arrival, then the attempt that failed. */
  readonly round: number
  /** Seed of the plan's order, with which the decision has to be made again; null where it orders nothing. */
  readonly seed: number | null
}

const REFUSED = 'bids-needed'

/** Refuses a decision until bidders have answered. Never shown to a client: whoever runs the command asks them. */
export function refuseUnasked(question: BidQuestion) {
  return refuse(REFUSED, { question })
}

/** The question of a refusal by `refuseUnasked`; null for any other. */
export function questionOf({ refused, details }: Refusal): BidQuestion | null {
  return refused === REFUSED ? (details as { readonly question: BidQuestion }).question : null
}

/** A planned bidder with the price and terms of its bid. */
function withBid(
  planned: Planned,
  { bidId, bidCents, durationThresholdSeconds, destination, expiresAt }: Bid,
): Planned {
  if (bidCents === null || expiresAt === null) return planned
  return {
    ...planned,
    revenueCents: bidCents,
    durationThresholdSeconds: durationThresholdSeconds ?? planned.durationThresholdSeconds,
    bid: { bidId, destination, expiresAt },
  }
}

/** A planned target with its bid, where it was asked and gave one. */
export function bidOn(planned: Planned, given: readonly Bid[]): Planned {
  const own = given.find(({ target }) => target.id === planned.targetId)
  return own ? withBid(planned, own) : planned
}

/** When the last bidder had answered; `at` where none was asked. */
export function bidsAnsweredAt(given: readonly Bid[], at: string): string {
  return [at, ...given.map(({ answeredAt }) => answeredAt)].toSorted().at(-1) ?? at
}

/** `BidsUnused` for bids that came too late for their decision; none where no bidder was asked. */
export function unusedBidsEvents(callId: string, occurredAt: string, given: readonly Bid[], arrival?: Arrival) {
  if (given.length === 0) return []
  const fields = arrival ? askedBidsFields(given, arrival) : { bids: given }
  return [{ type: 'BidsUnused' as const, data: { callId, occurredAt, ...fields } }]
}

/** What bidders are told of a call that has arrived. */
export function bidSubjectOf(
  arrival: Arrival,
  { discloseCallerId }: Pick<Campaign, 'discloseCallerId'>,
  at: string,
): BidSubject {
  const { callId: id, ref, campaign, publisher, caller, callerState, callerCity, dialedNumber, tags } = arrival
  return {
    auction: { id, ref },
    at,
    campaign: campaign ?? { id: '', name: '' },
    publisher: publisher && { ...publisher, ref: null },
    caller: { e164: caller, hash: null, state: callerState, zip: null, city: callerCity },
    isDisclosed: discloseCallerId,
    dialedNumber,
    sipOk: false,
    tags: Object.fromEntries(Object.entries(tags).map(([key, { value }]) => [key, value])),
  }
}

const skipOf = (
  { targetId, targetName }: Planned,
  reason: Skip['reason'],
  sentence: string,
  figures: Skip['figures'],
): Skip => ({
  targetId,
  targetName,
  reason,
  sentence,
  figures,
})

/**
 * The offer of an eligible planned target at an instant: itself at a fixed price, with a live bid, or its skip. Null for a
 * bidder that has to be asked first.
 */
export function offerOf(
  planned: Planned,
  { type }: Pick<Target, 'type'>,
  given: readonly Bid[],
  at: string,
): Planned | Skip | null {
  if (type !== 'rtb') return planned
  const fresh = given.find(({ target }) => target.id === planned.targetId)
  const offered = fresh ? withBid(planned, fresh) : planned
  if (!fresh && !(planned.bid && at < planned.bid.expiresAt)) return null
  const reason = fresh ? bidSkipReason(fresh.status) : null
  const { bidId = null, latencyMs = null, httpStatus = null } = fresh ?? {}
  const figures = { bidId, httpStatus, latencyMs }
  if (fresh && reason !== null) return skipOf(planned, reason, fresh.sentence, figures)
  const { targetName } = planned
  if (!offered.bid || at >= offered.bid.expiresAt)
    return skipOf(planned, 'no_bid', `The bid of target ${targetName} expired before it could be used.`, figures)
  if (offered.bid.destination === null)
    return skipOf(planned, 'no_destination', `Target ${targetName} bid and named nothing that can be dialled.`, figures)
  return offered
}
