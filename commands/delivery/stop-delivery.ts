import { z } from 'zod'
import { delivery, deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Ends a delivery that waits for an endpoint which no longer takes its event. */
export const stopDelivery = defineCommand({
  name: 'stop-delivery',
  entity: delivery,
  input: z.object({
    deliveryId: id,
    ...deliveryEvents.DeliveryStopped.pick({ occurredAt: true, sentence: true }).shape,
  }),
  id: ({ deliveryId }) => deliveryId,
  decide({ deliveryId, occurredAt, sentence }, state) {
    if (!state?.next) return []
    const { webhookId, next } = state
    return [{ type: 'DeliveryStopped', data: { deliveryId, webhookId, occurredAt, n: next.n, sentence } }]
  },
})
