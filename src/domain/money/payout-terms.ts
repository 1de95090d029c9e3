import { z } from 'zod'
import { payout, percent } from './money.ts'

/** What a publisher earns on a campaign whose lane says nothing else (Supplement §4). */
export const payoutTerms = z.object({
  mode: z.enum(['fixed', 'revshare']),
  payoutCents: payout.nullable(),
  revsharePct: percent.nullable(),
  minPayoutCents: payout.nullable(),
  maxPayoutCents: payout.nullable(),
})
export type PayoutTerms = Readonly<z.infer<typeof payoutTerms>>

interface Figures {
  readonly payoutCents: number | null
  readonly revsharePct: number | null
  readonly minPayoutCents: number | null
  readonly maxPayoutCents: number | null
}

/** What is wrong with payout figures under a mode, by field; empty when nothing is. */
export function payoutProblems(
  mode: 'inherit' | 'fixed' | 'revshare',
  terms: Figures,
): Readonly<Record<string, string>> {
  const { payoutCents, revsharePct, minPayoutCents, maxPayoutCents } = terms
  return {
    ...(mode === 'fixed' && payoutCents === null && { payoutCents: 'Required when the payout is fixed.' }),
    ...(mode === 'revshare' &&
      revsharePct === null && { revsharePct: 'Required when the payout is a share of revenue.' }),
    ...(minPayoutCents !== null &&
      maxPayoutCents !== null &&
      minPayoutCents > maxPayoutCents && { minPayoutCents: 'The floor must not be above the ceiling.' }),
  }
}
