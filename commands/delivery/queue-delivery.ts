import { delivery, deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Queues an event for an endpoint. Its id derives from both, so it is queued once. */
export const queueDelivery = defineCommand({
  name: 'queue-delivery',
  entity: delivery,
  input: deliveryEvents.DeliveryQueued,
  id: ({ deliveryId }) => deliveryId,
  begins: true,
  decide: (data, state) => (state === null ? [{ type: 'DeliveryQueued', data }] : []),
})
