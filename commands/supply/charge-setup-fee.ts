import { z } from 'zod'
import { price } from '../../src/domain/money/money.ts'
import { chargedEvent, entryLookups, findEntry, wallet } from '../../src/domain/money/wallet.ts'
import { e164 } from '../../src/domain/shared/fields.ts'
import { setupReference } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** Charges the setup fee of a completed order, once; the charge consumes its reservation. */
export const chargeSetupFee = defineCommand({
  name: 'charge-setup-fee',
  entity: wallet,
  input: z.object({ orderId: id, e164, amountCents: price, at: instant }),
  lookups: ({ orderId }, state) => entryLookups(state, setupReference(orderId)),
  decide({ orderId, e164, amountCents, at: occurredAt }, state, context) {
    const reference = setupReference(orderId)
    if (amountCents === 0 || findEntry(state, reference, context)) return []
    const note = `Setup of ${e164}`
    return [chargedEvent(state, { reference, kind: 'setup', amountCents, note, callId: null, occurredAt })]
  },
})
