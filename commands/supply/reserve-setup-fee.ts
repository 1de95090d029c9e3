import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { availableCents, wallet } from '../../src/domain/money/wallet.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { isAwaitingCarrier, setupReference } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Reserves an order's setup fee before it goes to the carrier, once; nothing for an order that has ended. */
export const reserveSetupFee = defineCommand({
  name: 'reserve-setup-fee',
  entity: wallet,
  input: z.object({ orderId: id }),
  reads: { workspace },
  rejects: ['order-not-found', 'insufficient-funds'],
  decide({ orderId }, state, { now, reads }) {
    const order = reads.workspace.orders.get(orderId)
    if (!order) return refuseNotFound('order')
    const reference = setupReference(orderId)
    const { setupCents: amountCents } = order
    if (amountCents === 0 || !isAwaitingCarrier(order) || state.reservations.has(reference)) return []
    const left = availableCents(state)
    if (left < amountCents) return refuse('insufficient-funds', { setupCents: amountCents, availableCents: left })
    const reservedCents = state.reservedCents + amountCents
    return [{ type: 'WalletReserved', data: { reference, amountCents, reservedCents, occurredAt: now } }]
  },
})
