import { isDeepStrictEqual } from 'node:util'
import { addMs } from '../../kernel/instant.ts'
import { getEntry } from '../../kernel/windowed-map.ts'
import type { Bid } from '../bidding/bid.ts'
import type { BidSubject } from '../bidding/bid-request.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import { type BidQuestion, bidsAnsweredAt, bidsField } from '../routing/bids.ts'
import type { Arrival, Planned, Skip, Terms } from '../routing/decision.ts'
import { type LedgerState, releaseReservation } from '../routing/ledger.ts'
import { campaignPlan, orderedPlan } from '../routing/plan.ts'
import { payoutFor, termsFor } from '../routing/terms.ts'
import { offerFor, type PlanSearch, unaskedBidders } from '../routing/waterfall.ts'
import { isOfferLive } from '../routing/won-offer.ts'
import { BID, PING } from '../shared/limits.ts'
import type { AuctionHeld, Offer, OfferedNumber, PingRequest, RepeatableOffer } from './auction.ts'
import { judgePing, laneOf, type PingInput } from './judge-ping.ts'
import { laneNumbers } from './lane-numbers.ts'
import { NO_BIDS, type NoBidReason, noBidOf } from './no-bid.ts'
import { knownNumber, type Ping } from './ping.ts'

/** All inputs of the decision on a ping: the same inputs give the same decision. */
export interface AuctionInput extends PingInput {
  readonly ref: string
  readonly seq: number
  readonly request: PingRequest
  readonly seed: number
  /** Bids that were asked for this decision. */
  readonly bids: readonly Bid[]
  /** Ids of the lane's numbers that are held for hidden callers. */
  readonly heldNumbers: readonly string[]
  /** The number that is held for this caller, who is hidden. */
  readonly heldNumber: string | null
  /** The caller's live offer on the lane. */
  readonly repeats: RepeatableOffer | null
  /** When it is decided. */
  readonly now: string
}

const publisherTags = (tags: Ping['tags']): Arrival['tags'] =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, { value, source: 'publisher' }]))

/** What bidders are told of a ping. */
function bidSubjectOf(
  { ping, ref, workspace }: Pick<AuctionInput, 'ping' | 'ref' | 'workspace'>,
  { discloseCallerId }: Pick<Campaign, 'discloseCallerId'>,
  at: string,
): BidSubject {
  const { auctionId: id, campaign, publisher, callerState: state, callerZip: zip, callerCity: city, sipOk, tags } = ping
  return {
    auction: { id, ref },
    at,
    campaign,
    publisher: {
      ...publisher,
      ref: ping.publisherRef ?? workspace.publishers.get(publisher.id)?.routingPrefix ?? null,
    },
    caller: { e164: knownNumber(ping.caller), hash: null, state, zip, city },
    isDisclosed: discloseCallerId,
    dialedNumber: null,
    sipOk,
    tags,
  }
}

/** What the bidder that won an auction is told. */
export function winSubjectOf({ ping, ref, isDisclosed }: AuctionHeld, workspace: WorkspaceState, at: string) {
  return bidSubjectOf({ ping, ref, workspace }, { discloseCallerId: isDisclosed }, at)
}

/**
 * Milliseconds for bidders that are left of the auction's time budget at an instant (ms): the answer has to be stored and sent within it,
 * too, for which `reserveMs` are kept, of a small budget less, or half of it where answers have taken that long.
 */
export function budgetLeft({ occurredAt, tmaxMs }: Pick<Ping, 'occurredAt' | 'tmaxMs'>, atMs: number, reserveMs = 0) {
  const least = Math.min(PING.answerMs, tmaxMs / 4)
  const kept = Math.max(least, Math.min(reserveMs, tmaxMs / 2))
  return Math.max(0, Math.floor(Date.parse(occurredAt) + tmaxMs - kept - atMs))
}

/** What an auction over a plan comes to: the first target that has a price, or why there is none. */
interface PlanResult {
  readonly winner: Planned | null
  readonly skipped: readonly Skip[]
}

/** Walks a plan to the first target with a price (Supplement §7); the id of a bidder that has to be asked first. */
function walk(search: PlanSearch): PlanResult | { readonly unasked: string } {
  const skipped: Skip[] = []
  for (const planned of search.plan) {
    const seen = offerFor(planned, search)
    if (seen === null) return { unasked: planned.targetId }
    if ('reason' in seen) skipped.push(seen)
    else return { winner: seen.offer, skipped }
  }
  return { winner: null, skipped }
}

const BIDDERS_REASONS: ReadonlySet<Skip['reason']> = new Set<Skip['reason']>(['no_bid', 'timeout', 'error'])

/** Why an auction without a winner has none. */
function reasonWithoutWinner(skipped: readonly Skip[]): NoBidReason {
  return skipped.some(({ reason }) => BIDDERS_REASONS.has(reason)) ? 'no_bids' : 'no_targets'
}

function offerOf(
  { ping: { auctionId, occurredAt: madeAt } }: AuctionInput,
  { targetId, targetName, revenueCents, durationThresholdSeconds, bid }: Planned,
  terms: Terms,
  number: OfferedNumber | null,
  at: string,
): Offer {
  const latest = addMs(at, BID.lifeSeconds * 1_000)
  return {
    auctionId,
    target: { id: targetId, name: targetName },
    bidId: bid?.bidId ?? null,
    clearingPriceCents: revenueCents,
    payoutCents: payoutFor(terms, revenueCents),
    durationThresholdSeconds,
    number,
    madeAt,
    expiresAt: bid && bid.expiresAt < latest ? bid.expiresAt : latest,
  }
}

/**
 * A number of the lane for the offer: the one that is held for a hidden caller, else the first that is held for nobody. For a ping
 * of the test environment none is held.
 */
function numberFor({ workspace, ping, heldNumber, heldNumbers }: AuctionInput): OfferedNumber | null {
  const numbers = laneNumbers(workspace, ping.campaign.id, ping.publisher.id)
  if (ping.environment === 'test') return numbers[0] ?? null
  if (ping.caller.kind === 'hidden') return numbers.find(({ id }) => id === heldNumber) ?? null
  return numbers.find(({ id }) => !heldNumbers.includes(id)) ?? null
}

/** Whether an offer names its number: a single-step ping has no post, and a hidden caller is known by the number alone. */
function namesNumber({ protocol, caller }: Ping): boolean {
  return protocol === 'rtb_v1_compat' || caller.kind === 'hidden'
}

/** The offer of an earlier ping that a ping gets again: of the same terms, alive, and not below the floor. */
function repeatedOffer(input: AuctionInput, ledger: LedgerState, terms: Terms): Offer | null {
  const { repeats, ping, now } = input
  if (repeats === null || !isDeepStrictEqual(repeats.terms, terms) || !isOfferLive(repeats.offer, now)) return null
  if (ping.floorCents !== null && repeats.offer.payoutCents < ping.floorCents) return null
  if (getEntry(ledger.endedOffers, repeats.offer.auctionId)) return null
  const number = repeats.offer.number ?? (namesNumber(ping) ? numberFor(input) : null)
  return namesNumber(ping) && number === null ? null : { ...repeats.offer, number }
}

/**
 * The decision on a ping as one pure function: the publisher's rules, then an auction over the campaign's plan. Returns the event
 * that holds all of it, or what bidders have to be asked first.
 */
export function decideAuction(input: AuctionInput): AuctionHeld | BidQuestion {
  const { ping, ref, seq, request, workspace, lastSeen, seed, bids, heldNumbers, heldNumber, repeats, now } = input
  const { campaign } = laneOf(workspace, ping)
  const ledger = repeats === null ? input.ledger : releaseReservation(input.ledger, repeats.offer.auctionId, now)
  const planTargets = campaign ? campaignPlan(workspace, campaign) : []
  const base = {
    ping,
    ref,
    seq,
    request,
    elapsedMs: Math.max(0, Date.parse(now) - Date.parse(ping.occurredAt)),
    targetsConsidered: planTargets.length,
    isDisclosed: campaign?.discloseCallerId ?? false,
    confirms: false,
    inputs: { seed, heldNumbers, heldNumber, repeats },
    ...bidsField(bids),
  }
  const refused = (reason: NoBidReason, skipped: readonly Skip[] = []): AuctionHeld => ({
    ...base,
    outcome: NO_BIDS[reason].outcome,
    reason: noBidOf(reason),
    offer: null,
    terms: null,
    plan: [],
    skipped,
  })
  const early = judgePing({ ...input, ledger })
  if (early !== null || campaign === null) return refused(early ?? 'campaign_not_live')
  const caller = knownNumber(ping.caller)
  const { callerState } = ping
  const publisherId = ping.publisher.id
  const about = { workspace, ledger, campaign, publisherId, caller, callerState, lastSeen }
  const terms = termsFor({ ...about, at: ping.occurredAt })
  const repeated = bids.length > 0 ? null : repeatedOffer(input, ledger, terms)
  if (repeated) return { ...base, outcome: 'cached', reason: null, offer: repeated, terms, plan: [], skipped: [] }
  const at = bidsAnsweredAt(bids, ping.occurredAt)
  const search: PlanSearch = {
    workspace,
    ledger,
    caller,
    callerState,
    tags: publisherTags(ping.tags),
    campaignStates: campaign.states,
    campaignName: campaign.name,
    lastSeen,
    bids,
    at,
    plan: planTargets,
  }
  const question = (targetIds: readonly string[]): BidQuestion => ({
    subject: bidSubjectOf(input, campaign, at),
    targetIds,
    budgetMs: budgetLeft(ping, Date.parse(at)),
    round: 0,
    seed,
  })
  const together = campaign.routingMode === 'highest_bid' ? unaskedBidders(search) : []
  if (together.length > 0) return question(together)
  const plan = orderedPlan(workspace, campaign, seed, bids)
  const found = walk({ ...search, plan })
  if ('unasked' in found) return budgetLeft(ping, Date.parse(at)) > 0 ? question([found.unasked]) : refused('no_bids')
  const { winner, skipped } = found
  if (winner === null) return refused(reasonWithoutWinner(skipped), skipped)
  const number = numberFor(input)
  const offer = offerOf(input, winner, terms, namesNumber(ping) ? number : null, at)
  if (ping.floorCents !== null && offer.payoutCents < ping.floorCents) return refused('below_floor', skipped)
  if (number === null) return refused('no_number', skipped)
  const rest = plan.filter(({ targetId }) => targetId !== winner.targetId)
  const isReal = ping.environment === 'production'
  const confirms = isReal && winner.bid !== undefined && workspace.targets.get(winner.targetId)?.rtb?.confirmUrl != null
  return { ...base, confirms, outcome: 'won', reason: null, offer, terms, plan: [winner, ...rest], skipped }
}
