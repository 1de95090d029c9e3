import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes an order whose setup fee the wallet no longer covers, before it reaches the carrier. */
export const declineNumberOrder = defineCommand({
  name: 'decline-number-order',
  entity: workspace,
  input: z.object({ orderId: id }),
  decide({ orderId }, { orders }) {
    const order = orders.get(orderId)
    if (order?.status !== 'pending' || order.carrierOrderId !== null) return []
    const { e164, requestId, setupCents } = order
    return [{ type: 'NumberOrderDeclined', data: { orderId, e164, requestId, setupCents } }]
  },
})
