import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import type { PayoutTerms } from '../money/payout-terms.ts'
import { isOpen } from '../shared/hours.ts'
import { type Lane, laneCounterId, laneId, reopenedKeyId } from '../supply/lane.ts'
import { isInsideWindow, type LastSeen, laneCallerKey } from './callers.ts'
import { isLaneCapped } from './caps.ts'
import { counterOf } from './counters.ts'
import type { Terms } from './decision.ts'
import type { LedgerState } from './ledger.ts'

/** What the terms of an arriving call depend on. */
export interface TermsInput {
  readonly workspace: WorkspaceState
  readonly ledger: LedgerState
  readonly campaign: Campaign | null
  readonly publisherId: string | null
  readonly caller: string | null
  readonly callerState: string | null
  readonly lastSeen: LastSeen
  readonly at: string
}

type WithheldReason = NonNullable<Terms['payoutWithheld']>

/** The minimum that a converted call earns by these terms, in cents. */
function minimumPayout({ mode, payoutCents, minPayoutCents }: PayoutTerms): number {
  return (mode === 'fixed' ? payoutCents : minPayoutCents) ?? 0
}

/** Whether a cap of the lane is full. */
export function isLaneFull(lane: Lane, { ledger, campaign, at }: TermsInput): boolean {
  const { campaignId, publisherId } = lane
  const counter = counterOf(ledger, 'lane', laneCounterId(campaignId, publisherId, reopenedKeyId(lane)))
  return isLaneCapped(lane, counter, at, campaign ? minimumPayout(payoutTermsOf(lane, campaign)) : 0)
}

/** Whether a lane is outside its hours. */
export function isLaneClosed({ hoursSchedule, timezone }: Lane, { campaign, at }: TermsInput): boolean {
  return !isOpen(hoursSchedule, Date.parse(at), timezone ?? campaign?.timezone ?? 'UTC')
}

/** Whether a list of states leaves a caller out, whose state may not be known. */
export function isStateRefused(states: readonly string[] | null, callerState: string | null): boolean {
  return states !== null && states.length > 0 && !(callerState && states.includes(callerState))
}

/** Whether the lane sent the caller before, inside its duplicate window. */
export function isLaneDuplicate(lane: Lane, { caller, lastSeen, at }: TermsInput): boolean {
  const { campaignId, publisherId, dedupeWindowSeconds } = lane
  if (dedupeWindowSeconds === 0 || caller === null) return false
  return isInsideWindow(lastSeen(laneCallerKey(laneId(campaignId, publisherId), caller)), dedupeWindowSeconds, at)
}

interface WithholdingRule {
  readonly reason: WithheldReason
  readonly withholds: (lane: Lane, arriving: TermsInput) => boolean
  /** The reason in plain words, the end of a sentence. */
  readonly because: string
}

/** Reasons why a dialled call earns its publisher nothing, in this order (Supplement §4, lane rules on a dialled call). */
const WITHHOLDING_RULES: readonly WithholdingRule[] = [
  {
    reason: 'publisher_not_live',
    withholds: ({ publisherId }, { workspace }) => workspace.publishers.get(publisherId)?.status !== 'live',
    because: 'the publisher was not live when the call arrived',
  },
  {
    reason: 'lane_closed',
    withholds: isLaneClosed,
    because: "the call came outside the hours of the publisher's lane",
  },
  {
    reason: 'lane_state',
    withholds: ({ states }, { callerState }) => isStateRefused(states, callerState),
    because: "the publisher's lane does not take callers from this state",
  },
  { reason: 'lane_capped', withholds: isLaneFull, because: "a cap of the publisher's lane was full" },
  {
    reason: 'duplicate',
    withholds: isLaneDuplicate,
    because: 'the publisher had sent this caller before, within the duplicate window of its lane',
  },
]

const BECAUSE = new Map(WITHHOLDING_RULES.map(({ reason, because }) => [reason, because]))

/** Why a payout is withheld, in plain words, to end a sentence. */
export function withheldBecause(reason: WithheldReason): string {
  return BECAUSE.get(reason) ?? reason
}

/** The payout terms of a lane: its own, or those that it inherits. */
export function payoutTermsOf(
  lane: Pick<Lane, 'payoutMode' | Exclude<keyof PayoutTerms, 'mode'>>,
  campaign: Pick<Campaign, 'payout'>,
): PayoutTerms {
  if (lane.payoutMode === 'inherit') return campaign.payout
  const { payoutMode: mode, payoutCents, revsharePct, minPayoutCents, maxPayoutCents } = lane
  return { mode, payoutCents, revsharePct, minPayoutCents, maxPayoutCents }
}

/** Why the lane withholds the payout of a call that arrives now; null when it pays. */
export function payoutWithheld(lane: Lane, arriving: TermsInput): WithheldReason | null {
  return WITHHOLDING_RULES.find(({ withholds }) => withholds(lane, arriving))?.reason ?? null
}
