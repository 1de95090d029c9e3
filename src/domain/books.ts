import type { Terms } from './call-facts.ts'
import { toCents } from './money.ts'

/** Seconds after the end of a call at which its usage is charged (Supplement §3). */
export const USAGE_DELAY_SECONDS = 120

/** What the publisher earns from a converted call of this revenue, by terms frozen at its arrival: whole cents. */
export function payoutFor(terms: Terms, revenueCents: number): number {
  if (terms.payoutMode === 'none' || terms.payoutWithheld !== null) return 0
  if (terms.payoutMode === 'fixed') return terms.payoutCents ?? 0
  const share = toCents((revenueCents * (terms.revsharePct ?? 0)) / 100)
  return Math.min(terms.maxPayoutCents ?? Number.POSITIVE_INFINITY, Math.max(terms.minPayoutCents ?? 0, share))
}

/** The books of a connected call at its settlement. It converts when it was talked at least as long as the frozen threshold. */
export function booksOf(
  terms: Terms,
  sold: { readonly revenueCents: number; readonly durationThresholdSeconds: number },
  talkSeconds: number,
) {
  const { revenueCents, durationThresholdSeconds } = sold
  if (talkSeconds < durationThresholdSeconds) {
    const reason = `under_threshold:${talkSeconds}s_of_${durationThresholdSeconds}s`
    return { converted: false, source: null, reason, revenueCents: 0, payoutCents: 0 } as const
  }
  const payoutCents = payoutFor(terms, revenueCents)
  return { converted: true, source: 'duration', reason: 'duration', revenueCents, payoutCents } as const
}

/** Minutes begun. */
export function minutesOf(talkSeconds: number): number {
  return Math.ceil(talkSeconds / 60)
}

/** The platform's charge for a call: minutes begun at the frozen rate, half-up to a cent. */
export function usageFor(talkSeconds: number, usageRateCents: number): number {
  return toCents(minutesOf(talkSeconds) * usageRateCents)
}
