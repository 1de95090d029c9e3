import type { z } from 'zod'
import type { Bid } from '../bidding/bid.ts'
import type { BidSubject } from '../bidding/bid-request.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import { type BidQuestion, bidsAnsweredAt, bidsField } from '../routing/bids.ts'
import type { Arrival, Planned, Skip, Terms } from '../routing/decision.ts'
import { campaignPlan, orderedPlan } from '../routing/plan.ts'
import { payoutFor, termsFor } from '../routing/terms.ts'
import { offerFor, type PlanSearch, unaskedBidders } from '../routing/waterfall.ts'
import { BID } from '../shared/limits.ts'
import { isDelivering } from '../supply/number.ts'
import type { auctionEvents, Offer } from './auction.ts'
import { judgePing, laneOf, type PingInput } from './judge-ping.ts'
import { NO_BIDS, type NoBidReason, noBidOf } from './no-bid.ts'
import { knownNumber, type Ping } from './ping.ts'

/** All inputs of the decision on a ping: the same inputs give the same decision. */
export interface AuctionInput extends PingInput {
  readonly ref: string
  readonly seed: number
  /** Bids that were asked for this decision. */
  readonly bids: readonly Bid[]
}

type AuctionHeld = z.infer<typeof auctionEvents.AuctionHeld>

const publisherTags = (tags: Ping['tags']): Arrival['tags'] =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, { value, source: 'publisher' }]))

/** What bidders are told of a ping. */
function bidSubjectOf({ ping, ref, workspace }: AuctionInput, { discloseCallerId }: Campaign, at: string): BidSubject {
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

/** Milliseconds of the auction's time budget that are left at an instant. */
const budgetLeft = ({ occurredAt, tmaxMs }: Ping, at: string) =>
  Math.max(0, Date.parse(occurredAt) + tmaxMs - Date.parse(at))

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

const instantAfter = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString()

function offerOf(
  { targetId, targetName, revenueCents, durationThresholdSeconds, bid }: Planned,
  terms: Terms,
  at: string,
): Offer {
  const latest = instantAfter(at, BID.lifeSeconds * 1_000)
  return {
    target: { id: targetId, name: targetName },
    bidId: bid?.bidId ?? null,
    clearingPriceCents: revenueCents,
    payoutCents: payoutFor(terms, revenueCents),
    durationThresholdSeconds,
    expiresAt: bid && bid.expiresAt < latest ? bid.expiresAt : latest,
  }
}

/** Whether a lane has a number to which calls can come. */
function hasNumber({ workspace: { numbers }, ping: { campaign, publisher } }: AuctionInput): boolean {
  return numbers.some(
    (number) => number.campaignId === campaign.id && number.publisherId === publisher.id && isDelivering(number),
  )
}

/**
 * The decision on a ping as one pure function: the publisher's rules, then an auction over the campaign's plan. Returns the event
 * that holds all of it, or what bidders have to be asked first.
 */
export function decideAuction(input: AuctionInput): AuctionHeld | BidQuestion {
  const { ping, ref, workspace, ledger, lastSeen, seed, bids } = input
  const base = { ping, ref, inputs: { seed }, ...bidsField(bids) }
  const refused = (reason: NoBidReason, skipped: readonly Skip[] = []): AuctionHeld => ({
    ...base,
    outcome: NO_BIDS[reason].outcome,
    reason: noBidOf(reason),
    offer: null,
    terms: null,
    plan: [],
    skipped,
  })
  const early = judgePing(input)
  const { campaign } = laneOf(workspace, ping)
  if (early !== null || campaign === null) return refused(early ?? 'campaign_not_live')
  const at = bidsAnsweredAt(bids, ping.occurredAt)
  const caller = knownNumber(ping.caller)
  const { callerState } = ping
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
    plan: campaignPlan(workspace, campaign),
  }
  const question = (targetIds: readonly string[]): BidQuestion => ({
    subject: bidSubjectOf(input, campaign, at),
    targetIds,
    budgetMs: budgetLeft(ping, at),
    round: 0,
    seed,
  })
  const together = campaign.routingMode === 'highest_bid' ? unaskedBidders(search) : []
  if (together.length > 0) return question(together)
  const plan = orderedPlan(workspace, campaign, seed, bids)
  const found = walk({ ...search, plan })
  if ('unasked' in found) return budgetLeft(ping, at) > 0 ? question([found.unasked]) : refused('no_bids')
  const { winner, skipped } = found
  if (winner === null) return refused(reasonWithoutWinner(skipped), skipped)
  const publisherId = ping.publisher.id
  const terms = termsFor({
    workspace,
    ledger,
    campaign,
    publisherId,
    caller,
    callerState,
    lastSeen,
    at: ping.occurredAt,
  })
  const offer = offerOf(winner, terms, at)
  if (ping.floorCents !== null && offer.payoutCents < ping.floorCents) return refused('below_floor', skipped)
  if (!hasNumber(input)) return refused('no_number', skipped)
  const rest = plan.filter(({ targetId }) => targetId !== winner.targetId)
  return { ...base, outcome: 'won', reason: null, offer, terms, plan: [winner, ...rest], skipped }
}
