import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { availableCents, chargedEvent, entryLookups, findEntry, wallet } from '../../src/domain/money/wallet.ts'
import { renewalReference, rentOwedSince } from '../../src/domain/supply/renewal.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Charges the rent of the oldest month that a number owes, once for each month, if the wallet balance covers it. */
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
  decide({ numberId }, state, context) {
    const { now, reads } = context
    const number = reads.workspace.numbers.get(numberId)
    const since = rentOwedSince(number, now)
    if (!number || since === null) return []
    const reference = renewalReference(numberId, since)
    if (findEntry(state, reference, context)) return []
    const { monthlyCents: amountCents, e164: note } = number
    const available = availableCents(state)
    if (available < amountCents) return refuse('insufficient-funds', { amountCents, availableCents: available })
    return [chargedEvent(state, { reference, kind: 'renewal', amountCents, note, callId: null, occurredAt: now })]
  },
})
