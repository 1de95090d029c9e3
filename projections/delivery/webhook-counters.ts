import { z } from 'zod'
import { deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { webhookConfigEvents } from '../../src/domain/delivery/webhook.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { PARTITIONS, partitionOf } from '../../src/kernel/partition.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { WebhookCreated, WebhookStatusChanged, WebhookDeleted } = webhookConfigEvents
const { WebhookTested: _tested, ...ofDeliveries } = deliveryEvents
const events = { WebhookCreated, WebhookStatusChanged, WebhookDeleted, ...ofDeliveries }

const doc = z.object({
  workspaceId: id,
  /** Partition of the workspace: a worker sends the deliveries of the partitions that it owns. */
  partition: z
    .int()
    .min(0)
    .max(PARTITIONS - 1),
  /** Requests of all time, tests and replays too. */
  delivered: z.int(),
  failed: z.int(),
  /** Failed requests since the last accepted one, or since a person resumed the endpoint. */
  consecutiveFailures: z.int(),
  /** Deliveries with an attempt that waits. */
  waiting: z.int(),
})

/** What each endpoint has been sent, and how much waits for it, by its id. */
export const webhookCounters = defineProjection({
  name: 'webhook-counters',
  version: 1,
  events,
  doc,
  indexes: [{ waiting: 1, partition: 1 }],
  key: (event) => (event.type === 'WebhookCreated' ? event.data.webhook.id : event.data.webhookId),
  create: {
    WebhookCreated(event) {
      const workspaceId = workspaceIdOf(event)
      const none = { delivered: 0, failed: 0, consecutiveFailures: 0, waiting: 0 }
      return { workspaceId, partition: partitionOf(workspaceId), ...none }
    },
  },
  update: {
    WebhookStatusChanged: (doc, { data }) => (data.to === 'active' ? { ...doc, consecutiveFailures: 0 } : doc),
    WebhookDeleted: () => null,
    DeliveryQueued: (doc) => ({ ...doc, waiting: doc.waiting + 1 }),
    DeliveryAttempted: (doc, { data: { accepted, nextAttemptAt } }) => ({
      ...doc,
      waiting: doc.waiting - (nextAttemptAt === null ? 1 : 0),
      delivered: doc.delivered + (accepted ? 1 : 0),
      failed: doc.failed + (accepted ? 0 : 1),
      consecutiveFailures: accepted ? 0 : doc.consecutiveFailures + 1,
    }),
    DeliveryReplayed: (doc, { data }) => ({ ...doc, waiting: doc.waiting + (data.revived ? 1 : 0) }),
    DeliveryStopped: (doc) => ({ ...doc, waiting: doc.waiting - 1 }),
    DeliveryRemoved: (doc, { data }) => ({ ...doc, waiting: doc.waiting - (data.waiting ? 1 : 0) }),
  },
})
