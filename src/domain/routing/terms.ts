import { planOf } from '../access/plans.ts'
import { laneId } from '../supply/lane.ts'
import type { Terms } from './decision.ts'
import { payoutTermsOf, payoutWithheld, type TermsInput } from './payout-withholding.ts'

/** The money terms of a call that arrives now. They are frozen on the call: no later change re-prices it. */
export function termsFor(arriving: TermsInput): Terms {
  const { workspace, campaign, publisherId } = arriving
  const lane = campaign && publisherId ? (workspace.lanes.get(laneId(campaign.id, publisherId)) ?? null) : null
  const payout = lane && campaign ? payoutTermsOf(lane, campaign) : null
  return {
    payoutMode: payout?.mode ?? 'none',
    payoutCents: payout?.payoutCents ?? null,
    revsharePct: payout?.revsharePct ?? null,
    minPayoutCents: payout?.minPayoutCents ?? null,
    maxPayoutCents: payout?.maxPayoutCents ?? null,
    payoutWithheld: lane && payoutWithheld(lane, arriving),
    bufferSeconds: lane?.bufferSeconds ?? campaign?.bufferSeconds ?? 0,
    usageRateCents: planOf(workspace.workspace?.planId ?? 'starter').usageRateCents,
  }
}
