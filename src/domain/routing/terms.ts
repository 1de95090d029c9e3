import { planOf } from '../access/plans.ts'
import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import type { PayoutTerms } from '../money/payout-terms.ts'
import { isOpen } from '../shared/hours.ts'
import { windowsOf } from '../shared/windows.ts'
import { type Lane, laneId } from '../supply/lane.ts'
import { isInside, type LastSeen, sentKey } from './callers.ts'
import { takenIn } from './caps.ts'
import type { Terms } from './decision.ts'
import { counterOf, type LedgerState } from './ledger.ts'

interface Arriving {
  readonly workspace: WorkspaceState
  readonly ledger: LedgerState
  readonly campaign: Campaign | null
  readonly publisherId: string | null
  readonly caller: string | null
  readonly callerState: string | null
  readonly lastSeen: LastSeen
  readonly at: string
}

type Withheld = NonNullable<Terms['payoutWithheld']>

/** The least that a converted call earns by these terms. */
function leastPayout({ mode, payoutCents, minPayoutCents }: PayoutTerms): number {
  return (mode === 'fixed' ? payoutCents : minPayoutCents) ?? 0
}

/** A lane has what a cap allows; of its earnings also where this call's would not fit any more. */
function laneCapped(lane: Lane, { ledger, campaign, at }: Arriving): boolean {
  const counter = counterOf(ledger, 'lane', laneId(lane.campaignId, lane.publisherId))
  const taken = takenIn(counter, at)
  const caps: readonly (readonly [number, number])[] = [
    [lane.concurrencyCap, counter.live],
    [lane.hourlyCap, taken.hour],
    [lane.dailyCap, taken.day],
    [lane.monthlyCap, taken.month],
  ]
  const earned = counter.cents.get(windowsOf(at).day, 0)
  const least = campaign ? leastPayout(payoutOf(lane, campaign)) : 0
  const spent = lane.dailyPayoutCapCents > 0 && earned + Math.max(1, least) > lane.dailyPayoutCapCents
  return spent || caps.some(([cap, count]) => cap > 0 && count >= cap)
}

/** The same lane sent the caller before, inside its window. */
function sentBefore(lane: Lane, { caller, lastSeen, at }: Arriving): boolean {
  const { campaignId, publisherId, dedupeWindowSeconds } = lane
  if (dedupeWindowSeconds === 0 || caller === null) return false
  return isInside(lastSeen(sentKey(laneId(campaignId, publisherId), caller)), dedupeWindowSeconds, at)
}

/** Why a dialled call earns its publisher nothing, in this order (Supplement §4, lane rules on a dialled call). */
const WITHHOLDS: readonly (readonly [Withheld, (lane: Lane, arriving: Arriving) => boolean])[] = [
  ['publisher_not_live', ({ publisherId }, { workspace }) => workspace.publishers.get(publisherId)?.status !== 'live'],
  [
    'lane_closed',
    (lane, { campaign, at }) =>
      !isOpen(lane.hoursSchedule, Date.parse(at), lane.timezone ?? campaign?.timezone ?? 'UTC'),
  ],
  [
    'lane_state',
    ({ states }, { callerState }) =>
      states !== null && states.length > 0 && !(callerState && states.includes(callerState)),
  ],
  ['lane_capped', laneCapped],
  ['duplicate', sentBefore],
]

function payoutOf(lane: Lane, campaign: Campaign): PayoutTerms {
  return lane.payoutMode === 'inherit' ? campaign.payout : { ...lane, mode: lane.payoutMode }
}

/** The money terms of a call that arrives now: frozen, so that no later change re-prices it. */
export function termsFor(arriving: Arriving): Terms {
  const { workspace, campaign, publisherId } = arriving
  const lane = campaign && publisherId ? (workspace.lanes.get(laneId(campaign.id, publisherId)) ?? null) : null
  const payout = lane && campaign ? payoutOf(lane, campaign) : null
  return {
    payoutMode: payout?.mode ?? 'none',
    payoutCents: payout?.payoutCents ?? null,
    revsharePct: payout?.revsharePct ?? null,
    minPayoutCents: payout?.minPayoutCents ?? null,
    maxPayoutCents: payout?.maxPayoutCents ?? null,
    payoutWithheld: (lane && WITHHOLDS.find(([, withholds]) => withholds(lane, arriving))?.[0]) ?? null,
    bufferSeconds: lane?.bufferSeconds ?? campaign?.bufferSeconds ?? 0,
    usageRateCents: planOf(workspace.workspace?.planId ?? 'starter').usageRateCents,
  }
}
