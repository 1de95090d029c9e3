import { workspace } from '../../src/domain/configuration/workspace.ts'
import { webhookConfigEvents } from '../../src/domain/delivery/webhook.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records that the deliveries of a deleted endpoint are removed. */
export const finishWebhookRemoval = defineCommand({
  name: 'finish-webhook-removal',
  entity: workspace,
  input: webhookConfigEvents.WebhookDeliveriesRemoved,
  decide: (data, { webhookRemovals }) =>
    webhookRemovals.has(data.webhookId) ? [{ type: 'WebhookDeliveriesRemoved', data }] : [],
})
