import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { WEBHOOK } from '../../src/domain/shared/limits.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Degrades an endpoint whose requests failed one after the other, or takes that back once one was accepted. A paused one stays paused. */
export const reportWebhookHealth = defineCommand({
  name: 'report-webhook-health',
  entity: workspace,
  /** `failures` in a row; 0 after a request that was accepted. */
  input: z.object({ webhookId: id, failures: z.int().min(0) }),
  decide({ webhookId, failures }, { webhooks }) {
    const webhook = webhooks.get(webhookId)
    if (!webhook) return []
    const { name, status } = webhook
    if (status === 'active' && failures >= WEBHOOK.degradedAfter)
      return [{ type: 'WebhookDegraded', data: { webhookId, name, failures } }]
    return status === 'degraded' && failures === 0 ? [{ type: 'WebhookRecovered', data: { webhookId, name } }] : []
  },
})
