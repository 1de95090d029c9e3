import { z } from 'zod'
import { wallet } from '../../src/domain/money/wallet.ts'
import { setupReference } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Releases the reserved setup fee of an order that brought no number. */
export const releaseSetupFee = defineCommand({
  name: 'release-setup-fee',
  entity: wallet,
  input: z.object({ orderId: id }),
  decide({ orderId }, { reservations, reservedCents }, { now }) {
    const reference = setupReference(orderId)
    const amountCents = reservations.get(reference)
    if (amountCents === undefined) return []
    const left = reservedCents - amountCents
    return [
      { type: 'WalletReservationReleased', data: { reference, amountCents, reservedCents: left, occurredAt: now } },
    ]
  },
})
