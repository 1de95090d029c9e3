import { z } from 'zod'
import { price } from '../../src/domain/money/money.ts'
import { entryId, entryLookups, recentEntry, wallet, walletEntries } from '../../src/domain/money/wallet.ts'
import { e164 } from '../../src/domain/shared/fields.ts'
import { setupReference } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** Charges the setup fee of a completed order, once; what was put aside for it is free with that. */
export const chargeSetupFee = defineCommand({
  name: 'charge-setup-fee',
  entity: wallet,
  input: z.object({ orderId: id, e164, amountCents: price, at: instant }),
  lookups: ({ orderId }, state) => entryLookups(state, setupReference(orderId)),
  decide({ orderId, e164, amountCents, at: occurredAt }, state, { workspaceId, lookUp }) {
    const reference = setupReference(orderId)
    const charged = recentEntry(state, reference) ?? lookUp(walletEntries, entryId(workspaceId, reference))
    if (charged || amountCents === 0) return []
    const balanceCents = state.balanceCents - amountCents
    const charge = { reference, kind: 'setup' as const, amountCents, balanceCents, callId: null, occurredAt }
    return [{ type: 'WalletCharged', data: { ...charge, note: `Setup of ${e164}` } }]
  },
})
