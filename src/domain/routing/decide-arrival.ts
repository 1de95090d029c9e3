import { addMs } from '../../kernel/instant.ts'
import type { Bid } from '../bidding/bid.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import type { WalletState } from '../money/wallet.ts'
import { areaCodeOf, stateOf } from '../shared/nanp.ts'
import { laneId, reopenedKeyId } from '../supply/lane.ts'
import type { TrackingNumber } from '../supply/number.ts'
import { type BidQuestion, bidSubjectOf, bidsAnsweredAt, bidsField } from './bids.ts'
import type { BlocklistState } from './blocklist.ts'
import { type CallLease, leaseTags } from './call-lease.ts'
import { callerKey, connectionKey, type LastSeen } from './callers.ts'
import { type Arrival, callRef, laneKeyOf, type RoutingSettings, type Terms } from './decision.ts'
import { evaluateGates, isRepeatCaller } from './gates.ts'
import { heldBackByGate, heldBackByTarget, heldBackField } from './held-back.ts'
import type { LedgerState } from './ledger.ts'
import { campaignPlan, orderedPlan } from './plan.ts'
import type { Sender } from './sender.ts'
import { termsFor } from './terms.ts'
import { planTargets, unaskedBidders } from './waterfall.ts'
import type { WonOffer } from './won-offer.ts'

/** All inputs of the decision on an arriving call: the same inputs give the same decision. */
export interface ArrivalInput {
  readonly workspace: WorkspaceState
  readonly blocklist: BlocklistState
  readonly wallet: WalletState
  readonly ledger: LedgerState
  readonly number: TrackingNumber
  readonly sender: Sender
  /** The offer of an auction that the call claims. */
  readonly offer: WonOffer | null
  /** An offer that is over. */
  readonly unclaimedOffer: WonOffer | null
  /** The visitor's lease of the number. */
  readonly lease: CallLease | null
  /** SHA-256 of the routing key that the call carries; null when it carries none. */
  readonly routingKeyHash: string | null
  readonly callId: string
  readonly carrierCallId: string
  readonly caller: string | null
  readonly lastSeen: LastSeen
  readonly seed: number
  /** Whether to judge what was held back of a call that no target takes. */
  readonly judgesHeldBack: boolean
  /** Bids that were asked for this decision. */
  readonly bids: readonly Bid[]
  readonly at: string
}

function observedTags(dialedNumber: string, publisher: string | null, caller: string | null): Arrival['tags'] {
  const observed = {
    dialedNumber,
    publisher,
    callerAreaCode: areaCodeOf(caller),
    callerState: stateOf(caller),
  }
  return Object.fromEntries(
    Object.entries(observed).flatMap(([key, value]) => (value ? [[key, { value, source: 'system' }]] : [])),
  )
}

/** What an auction says of the call that claims its offer. */
function auctionFields(offer: WonOffer | null): Pick<Arrival, 'auction'> {
  if (offer === null) return {}
  const { auctionId: id, ref, callerZip, publisherRef, externalCallId } = offer
  return { auction: { id, ref, callerZip, publisherRef, externalCallId } }
}

const sentTags = ({ tags }: WonOffer): Arrival['tags'] =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, { value, source: 'publisher' }]))

function arrivalOf(
  { workspace, ledger, number, sender, offer, lease, callId, carrierCallId, caller, at }: ArrivalInput,
  campaign: Campaign | null,
): Arrival {
  const publisher = sender.publisherId ? workspace.publishers.get(sender.publisherId) : undefined
  const lane = campaign && publisher ? workspace.lanes.get(laneId(campaign.id, publisher.id)) : undefined
  const seq = ledger.seq + 1
  return {
    callId,
    carrierCallId,
    seq,
    ref: callRef(seq),
    occurredAt: at,
    caller,
    callerState: offer?.callerState ?? stateOf(caller),
    callerCity: offer?.callerCity ?? null,
    dialedNumber: number.e164,
    numberId: number.id,
    numberPoolId: lease?.poolId ?? number.poolId,
    ...(lease && { dniSessionId: lease.sessionId }),
    attribution: sender.attribution,
    campaign: campaign && { id: campaign.id, name: campaign.name },
    publisher: publisher ? { id: publisher.id, name: publisher.name } : null,
    ...laneKeyOf({ laneKeyId: lane && reopenedKeyId(lane) }),
    routingMode: campaign?.routingMode ?? null,
    recordCalls: campaign?.recordCalls ?? false,
    tags: {
      ...(offer && sentTags(offer)),
      ...(lease && leaseTags(lease)),
      ...observedTags(number.e164, publisher?.name ?? null, caller),
    },
    ...auctionFields(offer),
  }
}

/** The terms of a call: those of its offer, with what was promised, else those of the arrival. */
function termsOf(arriving: Parameters<typeof termsFor>[0], offer: WonOffer | null): Terms {
  const terms = termsFor(arriving)
  if (offer === null) return terms
  const { payoutCents, durationThresholdSeconds } = offer
  const { bufferSeconds, usageRateCents } = terms
  return { ...offer.terms, bufferSeconds, usageRateCents, promise: { payoutCents, durationThresholdSeconds } }
}

const HANG_UP_ACTION: RoutingSettings['unrouted'] = { action: 'hangup', message: null, forwardE164: null }

function settingsOf(campaign: Campaign | null, at: string): RoutingSettings {
  const budgetMs = (campaign?.failoverBudgetSeconds ?? 0) * 1_000
  return {
    dialTimeoutSeconds: campaign?.dialTimeoutSeconds ?? 0,
    deadline: addMs(at, budgetMs),
    states: campaign?.states ?? [],
    unrouted: campaign
      ? {
          action: campaign.unroutedAction,
          message: campaign.unroutedAction === 'message' ? campaign.unroutedMessage : null,
          forwardE164: campaign.unroutedAction === 'forward' ? campaign.unroutedForwardE164 : null,
        }
      : HANG_UP_ACTION,
  }
}

/**
 * The decision on an arriving call as one pure function: gates, terms, plan, skips and the first claim (Architecture §3,
 * "Routing is one decision"). Returns one ledger event, which holds all of it, or what bidders have to be asked first.
 */
export function decideArrival(arriving: ArrivalInput) {
  const { workspace, ledger, sender, offer, unclaimedOffer, lease, routingKeyHash, caller, seed, bids, lastSeen, at } =
    arriving
  const { judgesHeldBack } = arriving
  const campaign = (sender.campaignId && workspace.campaigns.get(sender.campaignId)) || null
  const arrival = arrivalOf(arriving, campaign)
  const settings = settingsOf(campaign, at)
  const { publisherId } = sender
  const { callerState, tags, dialedNumber } = arrival
  const admission = campaign && caller && callerKey(campaign.id, caller)
  const seen = admission ? lastSeen(admission) : null
  const gateResult = evaluateGates({ ...arriving, campaign, publisherId, seen })
  const terms = termsOf({ workspace, ledger, campaign, publisherId, caller, callerState, lastSeen, at }, offer)
  const inputs = {
    seed,
    routingKeyHash,
    ...(unclaimedOffer && { unclaimedOffer }),
    ...(judgesHeldBack && { judgesHeldBack: true as const }),
  }
  const facts = { arrival, terms, inputs, ...(offer && { offer }), ...(lease && { lease }) }
  const look = {
    workspace,
    ledger,
    caller,
    callerState,
    tags,
    campaignStates: settings.states,
    lastSeen,
    at: bidsAnsweredAt(bids, at),
    campaignName: campaign?.name ?? '',
  }
  if (gateResult.failed || !campaign) {
    const { code = 'campaign_status', reason = 'campaign_not_live', sentence = '' } = gateResult.failed ?? {}
    const gates = { passed: gateResult.passed, failed: code }
    const held =
      judgesHeldBack && campaign
        ? heldBackByGate(reason, offer?.plan ?? orderedPlan(workspace, campaign, seed), look)
        : null
    return {
      type: 'CallRefused',
      data: {
        ...facts,
        gates,
        unrouted: { reason, sentence, ...settings.unrouted },
        ...heldBackField(held),
        ...bidsField(bids),
      },
    } as const
  }
  const gates = { passed: gateResult.passed, failed: null }
  const search = {
    ...look,
    bids,
    plan: offer?.plan ?? campaignPlan(workspace, campaign),
    settings,
    dialedNumber,
    attempts: 0,
  }
  const question = (targetIds: readonly string[]): BidQuestion => ({
    subject: bidSubjectOf(arrival, campaign, search.at),
    targetIds,
    budgetMs: Math.max(0, Date.parse(settings.deadline) - Date.parse(search.at)),
    round: 0,
    seed,
  })
  // A call that was won at auction follows the auction's order: a bidder whose bid has expired is asked in its turn.
  const together = offer === null && campaign.routingMode === 'highest_bid' ? unaskedBidders(search) : []
  if (together.length > 0) return question(together)
  const ordered = offer?.plan ?? orderedPlan(workspace, campaign, seed, bids)
  const sticks =
    offer === null && campaign.repeatCallerPolicy === 'same_target' && isRepeatCaller({ campaign, caller, seen, at })
  const first = sticks && admission ? lastSeen(connectionKey(admission))?.targetId : null
  const plan = first
    ? [...ordered].sort((a, b) => Number(b.targetId === first) - Number(a.targetId === first))
    : ordered
  const found = planTargets({ ...search, plan })
  if ('unasked' in found) return question(found.unasked)
  const { skipped, claim, unrouted } = found
  const held = judgesHeldBack && unrouted ? heldBackByTarget(plan, look) : null
  return {
    type: 'CallAdmitted',
    data: {
      ...facts,
      gates,
      settings,
      plan,
      skipped,
      claim,
      unrouted,
      ...heldBackField(held),
      ...bidsField(bids),
    },
  } as const
}
