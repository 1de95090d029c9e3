import { z } from 'zod'
import type { DecisionContext } from '../../kernel/command.ts'
import { refuse } from '../../kernel/refusal.ts'
import { wholeNumber } from '../../kernel/wire.ts'
import { CENTS, WALLET } from '../shared/limits.ts'
import { findEntry, PLATFORM_REFERENCE, type WalletState } from './wallet.ts'

/** A credit. `reference` is chosen by the payer and is credited once. */
export const creditInput = z.object({
  amountCents: wholeNumber({ min: 1, max: CENTS.credit }),
  reference: z
    .string()
    .trim()
    .min(1)
    .max(WALLET.reference)
    .refine(
      (reference) => !PLATFORM_REFERENCE.test(reference),
      'must not begin with setup:, renewal: or usage:, which are reserved for the platform',
    ),
  note: z.string().max(WALLET.note).nullish(),
})

/**
 * Decides a credit: no event when the reference was already credited with the same amount; `conflict` when it belongs to
 * another entry.
 */
export function decideCredit(
  { amountCents, reference, note }: z.infer<typeof creditInput>,
  state: WalletState,
  context: Pick<DecisionContext, 'now' | 'workspaceId' | 'lookUp'>,
) {
  const entry = findEntry(state, reference, context)
  if (entry?.kind === 'credit' && entry.amountCents === amountCents) return []
  if (entry) return refuse('conflict', { reference }, 'The reference is already used by another wallet entry.')
  const balanceCents = state.balanceCents + amountCents
  return [
    {
      type: 'WalletCredited' as const,
      data: {
        reference,
        kind: 'credit' as const,
        amountCents,
        balanceCents,
        note: note ?? null,
        occurredAt: context.now,
      },
    },
  ]
}
