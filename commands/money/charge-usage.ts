import { z } from 'zod'
import {
  entryId,
  entryLookups,
  recentEntry,
  usageReference,
  wallet,
  walletEntries,
} from '../../src/domain/money/wallet.ts'
import { CENTS } from '../../src/domain/shared/limits.ts'
import { wouldContain } from '../../src/domain/shared/windowed-map.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { cap, id, instant } from '../../src/kernel/wire.ts'

/** Charges a call's connected minutes, once for each call; the balance may go below zero. `at` is when the charge fell due. */
export const chargeUsage = defineCommand({
  name: 'charge-usage',
  entity: wallet,
  input: z.object({ callId: id, amountCents: cap(CENTS.price), at: instant }),
  lookups: ({ callId }, state) =>
    wouldContain(state.references, callId) ? [] : entryLookups(state, usageReference(callId)),
  decide({ callId, amountCents, at: occurredAt }, state, { workspaceId, lookUp }) {
    const reference = usageReference(callId)
    const charged = recentEntry(state, reference) ?? lookUp(walletEntries, entryId(workspaceId, reference))
    if (charged || amountCents === 0) return []
    const balanceCents = state.balanceCents - amountCents
    return [
      {
        type: 'WalletCharged',
        data: { reference, kind: 'usage' as const, amountCents, balanceCents, note: null, callId, occurredAt },
      },
    ]
  },
})
