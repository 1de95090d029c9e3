import { z } from 'zod'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { secretRecord, webhookKind, webhookSettings } from '../../src/domain/delivery/webhook.ts'
import { narrowedTo } from '../../src/domain/delivery/webhook-narrowing.ts'
import { refuseWithoutWebhooks } from '../../src/domain/delivery/webhook-refusals.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { isRefusal, refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Adds a webhook or pixel endpoint. Its URL has been vetted, its header values sealed for `webhookId`. */
export const createWebhook = defineCommand({
  name: 'create-webhook',
  entity: workspace,
  input: z.object({ webhookId: id, kind: webhookKind, settings: webhookSettings, secret: secretRecord }),
  rejects: ['workspace-not-found', 'plan-upgrade-required', 'campaign-not-found', 'publisher-not-found', 'conflict'],
  decide({ webhookId, kind, settings, secret }, state, { now, actor }) {
    const { workspace, webhooks } = state
    if (!workspace) return refuseNotFound('workspace')
    const withoutFeature = refuseWithoutWebhooks(workspace)
    if (withoutFeature) return withoutFeature
    const names = narrowedTo(state, settings)
    if (isRefusal(names)) return names
    if (webhooks.has(webhookId)) return refuse('conflict')
    const over = planLimitExceeded(workspace.planId, 'maxWebhooks', webhooks.size)
    if (over) return over
    const createdBy = actor.type === 'user' ? actor.id : null
    const webhook = {
      ...settings,
      id: webhookId,
      kind,
      status: 'active',
      secret,
      createdBy,
      createdAt: now,
      updatedAt: now,
    } as const
    return [{ type: 'WebhookCreated', data: { webhook, ...names } }]
  },
})
