import { z } from 'zod'
import { cap } from '../../kernel/wire.ts'
import { CENTS } from '../shared/limits.ts'

/** A price or fee, in cents. */
export const price = cap(CENTS.price)
/** A publisher's payout for one call, in cents. */
export const payout = cap(CENTS.payout)
/** A share of revenue in percent, 0 to 100. */
export const percent = z.number().min(0).max(100)

/** Parts of a cent that are significant: 14.499999999999998 is the binary form of 14.5 and rounds as 14.5 does. */
const GRAIN = 1_000_000

/** Rounds half-up to a whole cent (Supplement 1.16). */
export function toCents(amount: number): number {
  return Math.floor(Math.round(amount * GRAIN) / GRAIN + 0.5)
}
