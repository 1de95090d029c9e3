import { z } from 'zod'
import { payout, percent } from './money.ts'

/** A campaign's payout terms, for publishers whose lane inherits them (Supplement §4). */
export const payoutTerms = z
  .object({
    mode: z.enum(['fixed', 'revshare']),
    payoutCents: payout.nullable(),
    revsharePct: percent.nullable(),
    minPayoutCents: payout.nullable(),
    maxPayoutCents: payout.nullable(),
  })
  .meta({ id: 'PayoutTerms' })
export type PayoutTerms = Readonly<z.infer<typeof payoutTerms>>

interface Figures {
  readonly payoutCents: number | null
  readonly revsharePct: number | null
  readonly minPayoutCents: number | null
  readonly maxPayoutCents: number | null
}

/** What is wrong with payout figures under a mode, as sentences by field; empty when they are valid. */
export function payoutProblems(
  mode: 'inherit' | 'fixed' | 'revshare',
  terms: Figures,
): Readonly<Record<string, string>> {
  const { payoutCents, revsharePct, minPayoutCents, maxPayoutCents } = terms
  return {
    ...(mode === 'fixed' && payoutCents === null && { payoutCents: 'Required when the payout mode is fixed.' }),
    ...(mode === 'revshare' && revsharePct === null && { revsharePct: 'Required when the payout mode is revshare.' }),
    ...(minPayoutCents !== null &&
      maxPayoutCents !== null &&
      minPayoutCents > maxPayoutCents && { minPayoutCents: 'Must be at most maxPayoutCents.' }),
  }
}
