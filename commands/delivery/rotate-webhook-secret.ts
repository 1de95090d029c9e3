import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { isSigned, secretRecord } from '../../src/domain/delivery/webhook.ts'
import { refuseWithoutWebhooks } from '../../src/domain/delivery/webhook-refusals.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Replaces an endpoint's signing secret at once by that of the next version. */
export const rotateWebhookSecret = defineCommand({
  name: 'rotate-webhook-secret',
  entity: workspace,
  input: z.object({ webhookId: id, secret: secretRecord }),
  rejects: ['webhook-not-found', 'workspace-not-found', 'plan-upgrade-required', 'conflict'],
  decide({ webhookId, secret: after }, { workspace, webhooks }) {
    const webhook = webhooks.get(webhookId)
    if (!workspace) return refuseNotFound('workspace')
    if (!webhook) return refuseNotFound('webhook')
    const withoutFeature = refuseWithoutWebhooks(workspace)
    if (withoutFeature) return withoutFeature
    if (!isSigned(webhook))
      return refuse('conflict', { method: webhook.method }, 'A GET pixel is not signed and has no secret.')
    const { name, secret: before } = webhook
    if (after.version !== before.version + 1)
      return refuse('conflict', null, 'The secret was rotated at the same time. Try again.')
    return [{ type: 'WebhookSecretRotated', data: { webhookId, name, before, after } }]
  },
})
