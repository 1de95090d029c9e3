import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { delivery, replayedEvents } from '../../src/domain/delivery/delivery.ts'
import { refusePaused } from '../../src/domain/delivery/webhook-refusals.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Makes a delivery due at once, under the same request id. One that is due already stays as it is. */
export const replayDelivery = defineCommand({
  name: 'replay-delivery',
  entity: delivery,
  input: z.object({ deliveryId: id }),
  id: ({ deliveryId }) => deliveryId,
  reads: { workspace },
  rejects: ['delivery-not-found', 'conflict'],
  decide(_input, state, { now, reads }) {
    const webhook = state && !state.removed ? reads.workspace.webhooks.get(state.webhookId) : undefined
    if (!state || !webhook) return refuseNotFound('delivery')
    return webhook.status === 'paused' ? refusePaused() : replayedEvents(state, webhook.name, now)
  },
})
