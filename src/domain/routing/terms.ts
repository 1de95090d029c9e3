import { planOf } from '../access/plans.ts'
import { toCents } from '../money/money.ts'
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

/** Payout of a converted call in whole cents, by the terms frozen at its arrival. */
export function payoutFor(terms: Terms, revenueCents: number): number {
  if (terms.payoutMode === 'none' || terms.payoutWithheld !== null) return 0
  if (terms.payoutMode === 'fixed') return terms.payoutCents ?? 0
  const share = toCents((revenueCents * (terms.revsharePct ?? 0)) / 100)
  return Math.min(terms.maxPayoutCents ?? Number.POSITIVE_INFINITY, Math.max(terms.minPayoutCents ?? 0, share))
}
