import { workspace } from '../../src/domain/configuration/workspace.ts'
import { delivery, deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { refusePaused, refuseWithoutWebhooks } from '../../src/domain/delivery/webhook-refusals.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Queues a test for an endpoint, whatever its pattern and narrowing are. */
export const queueTestDelivery = defineCommand({
  name: 'queue-test-delivery',
  entity: delivery,
  input: deliveryEvents.DeliveryQueued.omit({ test: true, occurredAt: true }),
  id: ({ deliveryId }) => deliveryId,
  reads: { workspace },
  rejects: ['webhook-not-found', 'workspace-not-found', 'plan-upgrade-required', 'conflict'],
  decide(input, state, { now, reads: { workspace: configuration } }) {
    const { workspace, webhooks } = configuration
    if (state) return []
    if (!workspace) return refuseNotFound('workspace')
    const withoutFeature = refuseWithoutWebhooks(workspace)
    if (withoutFeature) return withoutFeature
    const webhook = webhooks.get(input.webhookId)
    if (!webhook) return refuseNotFound('webhook')
    if (webhook.status === 'paused') return refusePaused()
    const { deliveryId, webhookId, event } = input
    return [
      { type: 'DeliveryQueued', data: { ...input, occurredAt: now, test: true } },
      { type: 'WebhookTested', data: { deliveryId, webhookId, occurredAt: now, name: webhook.name, event } },
    ]
  },
})
