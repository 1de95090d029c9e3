import type { deliveryEvents } from '../delivery/delivery.ts'
import type { webhookConfigEvents } from '../delivery/webhook.ts'
import { changesBetween } from './activity-changes.ts'
import { type AuditedRecord, type AuditFormatters, auditEntry, created, updated } from './audit-formatter.ts'

const webhook = (id: string, name: string): AuditedRecord => ({ kind: 'webhook', id, name })

interface Named {
  readonly webhookId: string
  readonly name: string
}
const record = ({ webhookId, name }: Named) => webhook(webhookId, name)

/** The words for an endpoint that a person pauses or resumes. */
const STATUS_ACTIONS = { paused: 'paused', active: 'resumed' } as const

type AuditedEvents = typeof webhookConfigEvents & Pick<typeof deliveryEvents, 'WebhookTested' | 'DeliveryReplayed'>

/** Entries of webhook and pixel endpoints: headers, body templates and secrets are told as changed, never printed. */
export const deliveryAudit: AuditFormatters<AuditedEvents> = {
  WebhookCreated: ({ data: { webhook: made, campaignName, publisherName } }) =>
    created(webhook(made.id, made.name), 'created', 'medium', { ...made, campaignName, publisherName }),
  WebhookChanged: ({ data }) => updated(record(data), data.before, data.after, { action: 'updated' }),
  WebhookStatusChanged: ({ data }) => {
    const { from, to } = data
    const action = STATUS_ACTIONS[to]
    return auditEntry(
      record(data),
      action,
      'medium',
      `was ${action}.`,
      changesBetween({ status: from }, { status: to }),
    )
  },
  WebhookDegraded: ({ data }) =>
    auditEntry(
      record(data),
      'degraded',
      'medium',
      `is degraded: ${data.failures} requests in a row failed.`,
      changesBetween({ status: 'active' }, { status: 'degraded' }),
    ),
  WebhookRecovered: ({ data }) =>
    auditEntry(
      record(data),
      'recovered',
      'low',
      'is active again: a request was accepted.',
      changesBetween({ status: 'degraded' }, { status: 'active' }),
    ),
  WebhookSecretRotated: ({ data }) => auditEntry(record(data), 'secret_rotated', 'high', 'has a new signing secret.'),
  WebhookDeleted: ({ data }) => auditEntry(record(data), 'deleted', 'high', 'was deleted with its deliveries.'),
  WebhookDeliveriesRemoved: () => null,
  WebhookTested: ({ data }) => {
    const { deliveryId, event } = data
    return auditEntry(
      record(data),
      'tested',
      'low',
      `was sent a test of ${event}.`,
      changesBetween(null, { deliveryId }),
    )
  },
  DeliveryReplayed: ({ data }) => {
    const { deliveryId, n: attempt } = data
    const changes = changesBetween(null, { deliveryId, attempt })
    return auditEntry(record(data), 'replayed', 'low', 'was sent a delivery again.', changes)
  },
}
