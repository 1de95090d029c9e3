import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Deletes an endpoint; a scheduled job then removes its deliveries. */
export const deleteWebhook = defineCommand({
  name: 'delete-webhook',
  entity: workspace,
  input: z.object({ webhookId: id }),
  rejects: ['webhook-not-found'],
  decide({ webhookId }, { webhooks }) {
    const webhook = webhooks.get(webhookId)
    return webhook ? [{ type: 'WebhookDeleted', data: { webhookId, name: webhook.name } }] : refuseNotFound('webhook')
  },
})
