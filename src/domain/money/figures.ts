import { z } from 'zod'
import { cap } from '../../kernel/wire.ts'
import { CALL } from '../shared/limits.ts'

/** What a call earns or owes, in cents. */
export const figureCents = cap(CALL.figureCents)

/** Whether a call converted, and what that earned; profit is revenue less payout, always. */
export const figures = z
  .object({ converted: z.boolean(), revenueCents: figureCents, payoutCents: figureCents })
  .meta({ id: 'Figures' })

export type Figures = Readonly<z.infer<typeof figures>>

/** The figures of books alone. */
export function figuresOf({ converted, revenueCents, payoutCents }: Figures): Figures {
  return { converted, revenueCents, payoutCents }
}

/** Whether two sets of figures are the same. */
export function sameFigures(one: Figures, other: Figures): boolean {
  return (
    one.converted === other.converted &&
    one.revenueCents === other.revenueCents &&
    one.payoutCents === other.payoutCents
  )
}
