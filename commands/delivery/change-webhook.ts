import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { type WebhookSettings, webhookChanges, webhookStatus } from '../../src/domain/delivery/webhook.ts'
import { narrowedTo } from '../../src/domain/delivery/webhook-narrowing.ts'
import { refuseWithoutWebhooks } from '../../src/domain/delivery/webhook-refusals.ts'
import { applyPatch, diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Changes an endpoint's settings, pauses it or resumes it, which clears `degraded` as well. A changed URL has been vetted. Pausing
 * alone needs no plan feature.
 */
export const changeWebhook = defineCommand({
  name: 'change-webhook',
  entity: workspace,
  input: z.object({
    webhookId: id,
    changes: webhookChanges,
    status: webhookStatus.extract(['active', 'paused']).optional(),
  }),
  rejects: [
    'webhook-not-found',
    'workspace-not-found',
    'bad-request',
    'plan-upgrade-required',
    'campaign-not-found',
    'publisher-not-found',
  ],
  decide({ webhookId, changes, status }, state) {
    const webhook = state.webhooks.get(webhookId)
    if (!state.workspace) return refuseNotFound('workspace')
    if (!webhook) return refuseNotFound('webhook')
    const isPatch = Object.keys(changes).length > 0
    if (!isPatch && status === undefined) return refuseEmptyChange()
    const withoutFeature = isPatch || status !== 'paused' ? refuseWithoutWebhooks(state.workspace) : null
    if (withoutFeature) return withoutFeature
    const names = narrowedTo(state, applyPatch(webhook, changes))
    if (isRefusal(names)) return names
    const { name, status: from } = webhook
    const difference = diff<WebhookSettings>(webhook, changes)
    const changed = difference
      ? [{ type: 'WebhookChanged' as const, data: { webhookId, name, ...difference, ...names } }]
      : []
    if (status === undefined || status === from) return changed
    return [...changed, { type: 'WebhookStatusChanged', data: { webhookId, name, from, to: status } }]
  },
})
