import { z } from 'zod'
import { chargedEvent, entryLookups, findEntry, usageReference, wallet } from '../../src/domain/money/wallet.ts'
import { CENTS } from '../../src/domain/shared/limits.ts'
import { wouldContain } from '../../src/domain/shared/windowed-map.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { cap, id, instant } from '../../src/kernel/wire.ts'

/** Charges the usage of a call, once; the balance may go below zero. `at` is when the charge fell due. */
export const chargeUsage = defineCommand({
  name: 'charge-usage',
  entity: wallet,
  input: z.object({ callId: id, amountCents: cap(CENTS.price), at: instant }),
  lookups: ({ callId }, state) =>
    wouldContain(state.references, callId) ? [] : entryLookups(state, usageReference(callId)),
  decide({ callId, amountCents, at: occurredAt }, state, context) {
    const reference = usageReference(callId)
    if (amountCents === 0 || findEntry(state, reference, context)) return []
    return [chargedEvent(state, { reference, kind: 'usage', amountCents, note: null, callId, occurredAt })]
  },
})
