import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import {
  availableCents,
  entryId,
  entryLookups,
  recentEntry,
  wallet,
  walletEntries,
} from '../../src/domain/money/wallet.ts'
import { renewalReference, rentOwedSince } from '../../src/domain/supply/renewal.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Charges the oldest month's rent that a number owes, once for each month, where the wallet holds it. */
export const billRenewal = defineCommand({
  name: 'bill-renewal',
  entity: wallet,
  input: z.object({ numberId: id }),
  reads: { workspace },
  lookups({ numberId }, state, { workspace: { numbers } }) {
    const renewsAt = numbers.get(numberId)?.renewsAt
    return renewsAt ? entryLookups(state, renewalReference(numberId, renewsAt)) : []
  },
  rejects: ['insufficient-funds'],
  decide({ numberId }, state, { now, workspaceId, reads, lookUp }) {
    const number = reads.workspace.numbers.get(numberId)
    const since = rentOwedSince(number, now)
    if (!number || since === null) return []
    const reference = renewalReference(numberId, since)
    if (recentEntry(state, reference) ?? lookUp(walletEntries, entryId(workspaceId, reference))) return []
    const { monthlyCents: amountCents, e164: note } = number
    const available = availableCents(state)
    if (available < amountCents) return refuse('insufficient-funds', { amountCents, availableCents: available })
    const balanceCents = state.balanceCents - amountCents
    const charge = { reference, kind: 'renewal' as const, amountCents, balanceCents, note }
    return [{ type: 'WalletCharged', data: { ...charge, callId: null, occurredAt: now } }]
  },
})
