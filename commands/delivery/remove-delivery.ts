import { z } from 'zod'
import { delivery, deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes a delivery whose endpoint was deleted, and what waits of it. */
export const removeDelivery = defineCommand({
  name: 'remove-delivery',
  entity: delivery,
  input: z.object({ deliveryId: id, occurredAt: deliveryEvents.DeliveryRemoved.shape.occurredAt }),
  id: ({ deliveryId }) => deliveryId,
  decide({ deliveryId, occurredAt }, state) {
    if (!state || state.removed) return []
    const { webhookId, next } = state
    return [{ type: 'DeliveryRemoved', data: { deliveryId, webhookId, occurredAt, waiting: next !== null } }]
  },
})
