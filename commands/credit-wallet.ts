import { z } from 'zod'
import { CENTS, WALLET } from '../src/domain/limits.ts'
import { entryId, entryRecalls, knownEntry, wallet, walletEntries } from '../src/domain/wallet.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'
import { wholeNumber } from '../src/kernel/wire.ts'

/** Adds money to the wallet, once for each reference. */
export const creditWallet = defineCommand({
  name: 'credit-wallet',
  entity: wallet,
  input: z.object({
    amountCents: wholeNumber({ min: 1, max: CENTS.credit }),
    reference: z.string().min(1).max(WALLET.reference),
    note: z.string().max(WALLET.note).nullish(),
  }),
  recalls: ({ reference }, state) => entryRecalls(state, reference),
  rejects: ['conflict'],
  decide({ amountCents, reference, note }, state, { now, workspaceId, recall }) {
    const entry = knownEntry(state, reference) ?? recall(walletEntries, entryId(workspaceId, reference))
    if (entry?.kind === 'credit' && entry.amountCents === amountCents) return []
    if (entry) return refuse('conflict', { reference }, 'The reference belongs to another entry.')
    const balanceCents = state.balanceCents + amountCents
    return [
      {
        type: 'WalletCredited',
        data: { reference, kind: 'credit' as const, amountCents, balanceCents, note: note ?? null, occurredAt: now },
      },
    ]
  },
})
