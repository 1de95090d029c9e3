import { toCents } from '../money/money.ts'
import type { Terms } from '../routing/decision.ts'
import { payoutFor } from '../routing/terms.ts'
import type { Books, Corrections, Posted } from './call-changes.ts'

/** Seconds after the end of a call at which its usage is charged (Supplement §3). */
export const USAGE_DELAY_SECONDS = 120

/** The facts that determine the books of a call that ended. */
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

/** Whether a call converts without a correction: by its talk time, else by a posted conversion. */
function conversionOf({ sold, dialled, talkSeconds, posted }: BookFacts): Conversion {
  if (sold === null) return noConversion(dialled ? 'not_answered' : 'no_buyer')
  const { durationThresholdSeconds } = sold
  if (talkSeconds >= durationThresholdSeconds) return { converted: true, source: 'duration', reason: 'duration' }
  if (posted) return { converted: true, source: posted.source, reason: posted.source }
  return noConversion(`under_threshold:${talkSeconds}s_of_${durationThresholdSeconds}s`)
}

/** A conversion after a correction; a correction to the value that it has already keeps its source. */
function applyCorrection(own: Conversion, converted: boolean | undefined): Conversion {
  if (converted === undefined || converted === own.converted) return own
  return { converted, source: converted ? 'manual' : null, reason: 'manual' }
}

/**
 * The books of a call that ended, from its facts alone, in whatever order they came: settlements, conversions and
 * corrections all use it. A converted call earns the posted revenue, else the frozen price; the payout follows the frozen
 * terms; a corrected figure replaces the computed one. A call won at auction earns what was offered for it once it has talked
 * as long as was offered, even when the buyer does not pay.
 */
export function booksOf(facts: BookFacts): Books {
  const { terms, sold, talkSeconds, posted, corrections } = facts
  const conversion = applyCorrection(conversionOf(facts), corrections.converted)
  const earned = conversion.converted ? (posted?.revenueCents ?? sold?.revenueCents ?? 0) : 0
  const revenueCents = corrections.revenueCents ?? earned
  const { promise } = terms
  const isPromised = promise !== undefined && sold !== null && talkSeconds >= promise.durationThresholdSeconds
  const owed = isPromised ? promise.payoutCents : conversion.converted ? payoutFor(terms, revenueCents) : 0
  return { ...conversion, revenueCents, payoutCents: corrections.payoutCents ?? owed }
}

/** Billed minutes: a started minute counts. */
export function billedMinutes(talkSeconds: number): number {
  return Math.ceil(talkSeconds / 60)
}

/** Usage charge of a call in cents: billed minutes at the frozen rate, rounded half up. */
export function usageFor(talkSeconds: number, usageRateCents: number): number {
  return toCents(billedMinutes(talkSeconds) * usageRateCents)
}
