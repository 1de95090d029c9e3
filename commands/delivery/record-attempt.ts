import { z } from 'zod'
import { attemptedEvent, delivery, deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Records a request of a delivery. Idempotent by the number of the attempt. */
export const recordAttempt = defineCommand({
  name: 'record-attempt',
  entity: delivery,
  input: z.object({
    deliveryId: id,
    ...deliveryEvents.DeliveryAttempted.pick({
      n: true,
      occurredAt: true,
      status: true,
      ms: true,
      accepted: true,
      error: true,
    }).shape,
  }),
  id: ({ deliveryId }) => deliveryId,
  decide({ deliveryId: _id, ...attempt }, state) {
    return state?.next?.n === attempt.n ? [attemptedEvent(state, attempt)] : []
  },
})
