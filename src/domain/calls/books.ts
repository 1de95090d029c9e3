import { toCents } from '../money/money.ts'
import type { Terms } from '../routing/decision.ts'
import type { Books, Corrections, Posted } from './call-changes.ts'

/** Seconds after the end of a call at which its usage is charged (Supplement §3). */
export const USAGE_DELAY_SECONDS = 120

/** What the publisher earns from a converted call of this revenue, by terms frozen at its arrival: whole cents. */
export function payoutFor(terms: Terms, revenueCents: number): number {
  if (terms.payoutMode === 'none' || terms.payoutWithheld !== null) return 0
  if (terms.payoutMode === 'fixed') return terms.payoutCents ?? 0
  const share = toCents((revenueCents * (terms.revsharePct ?? 0)) / 100)
  return Math.min(terms.maxPayoutCents ?? Number.POSITIVE_INFINITY, Math.max(terms.minPayoutCents ?? 0, share))
}

/** All that the books of a call that ended follow from. */
export interface BookFacts {
  readonly terms: Terms
  /** Price and threshold of the target that answered; null when none did. */
  readonly sold: { readonly revenueCents: number; readonly durationThresholdSeconds: number } | null
  /** Whether any target was dialled. */
  readonly dialled: boolean
  readonly talkSeconds: number
  readonly posted: Posted | null
  readonly corrections: Corrections
}

type Conversion = Pick<Books, 'converted' | 'source' | 'reason'>

const noConversion = (reason: string): Conversion => ({ converted: false, source: null, reason })

/** Whether a call converts by itself: by its talk, else by a posted conversion. */
function conversionOf({ sold, dialled, talkSeconds, posted }: BookFacts): Conversion {
  if (sold === null) return noConversion(dialled ? 'not_answered' : 'no_buyer')
  const { durationThresholdSeconds } = sold
  if (talkSeconds >= durationThresholdSeconds) return { converted: true, source: 'duration', reason: 'duration' }
  if (posted) return { converted: true, source: posted.source, reason: posted.source }
  return noConversion(`under_threshold:${talkSeconds}s_of_${durationThresholdSeconds}s`)
}

/** A conversion as somebody corrected it; one that was corrected to what it is anyway keeps its own source. */
function applyCorrection(own: Conversion, converted: boolean | undefined): Conversion {
  if (converted === undefined || converted === own.converted) return own
  return { converted, source: converted ? 'manual' : null, reason: 'manual' }
}

/**
 * The books of a call that ended, from its facts alone, in whatever order they came: settlement, conversions and
 * corrections all read so. A converted call earns what was posted, else the frozen price; the payout follows the frozen
 * terms; a corrected figure stands as it was set.
 */
export function booksOf(facts: BookFacts): Books {
  const { terms, sold, posted, corrections } = facts
  const conversion = applyCorrection(conversionOf(facts), corrections.converted)
  const earned = conversion.converted ? (posted?.revenueCents ?? sold?.revenueCents ?? 0) : 0
  const revenueCents = corrections.revenueCents ?? earned
  const owed = conversion.converted ? payoutFor(terms, revenueCents) : 0
  return { ...conversion, revenueCents, payoutCents: corrections.payoutCents ?? owed }
}

/** Minutes begun. */
export function billedMinutes(talkSeconds: number): number {
  return Math.ceil(talkSeconds / 60)
}

/** The platform's charge for a call: minutes begun at the frozen rate, half-up to a cent. */
export function usageFor(talkSeconds: number, usageRateCents: number): number {
  return toCents(billedMinutes(talkSeconds) * usageRateCents)
}
