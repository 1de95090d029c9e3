import { webhook, webhookConfigEvents } from '../../src/domain/delivery/webhook.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { WebhookDeliveriesRemoved: _removed, ...events } = webhookConfigEvents

/** Webhook and pixel endpoints, by id. */
export const webhooks = defineProjection({
  name: 'webhooks',
  version: 1,
  events,
  doc: webhook.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, createdAt: -1 }],
  key: (event) => (event.type === 'WebhookCreated' ? event.data.webhook.id : event.data.webhookId),
  create: {
    WebhookCreated(event) {
      const { id: _id, ...record } = event.data.webhook
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    WebhookChanged: (doc, { data, meta }) => applyPatch({ ...doc, updatedAt: meta.at }, data.after),
    WebhookStatusChanged: (doc, { data, meta }) => ({ ...doc, status: data.to, updatedAt: meta.at }),
    WebhookDegraded: (doc) => ({ ...doc, status: 'degraded' as const }),
    WebhookRecovered: (doc) => ({ ...doc, status: 'active' as const }),
    WebhookSecretRotated: (doc, { data, meta }) => ({ ...doc, secret: data.after, updatedAt: meta.at }),
    WebhookDeleted: () => null,
  },
})
