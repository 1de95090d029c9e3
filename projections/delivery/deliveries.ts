import { z } from 'zod'
import { deliveryEvents, deliveryState } from '../../src/domain/delivery/delivery.ts'
import { DELIVERY } from '../../src/domain/shared/limits.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const { WebhookTested: _tested, ...events } = deliveryEvents
const { DeliveryQueued } = events

/** One attempt in the log, without the bodies and headers, which are kept beside. */
export const loggedAttempt = z.object({
  n: z.int(),
  at: instant,
  status: z.int(),
  ms: z.int(),
  error: z.string().nullable(),
})

const doc = DeliveryQueued.omit({ deliveryId: true, occurredAt: true, data: true }).extend({
  workspaceId: id,
  state: deliveryState,
  createdAt: instant,
  createdMs: z.int(),
  /** Position of the event that queued it: orders those of one millisecond. */
  order: z.int(),
  /** When the waiting attempt is due (ms since the epoch), and its number; null when none waits. */
  dueMs: z.int().nullable(),
  nextN: z.int().nullable(),
  accepted: z.boolean(),
  attempts: z.array(loggedAttempt).readonly(),
})
type Doc = Readonly<z.infer<typeof doc>>

/** A delivery with its waiting attempt, and the state that follows. */
function withNext(delivery: Doc, dueMs: number | null, nextN: number | null): Doc {
  const state = delivery.accepted ? 'delivered' : dueMs === null ? 'failed' : 'queued'
  return { ...delivery, dueMs, nextN, state }
}

function withAttempt(delivery: Doc, attempt: Doc['attempts'][number], accepted: boolean): Doc {
  const attempts = [...delivery.attempts, attempt].slice(-DELIVERY.listed)
  return { ...delivery, attempts, accepted: delivery.accepted || accepted }
}

/** The delivery log: one document for each event and endpoint, by delivery id. What waits is found by endpoint and due instant. */
export const deliveries = defineProjection({
  name: 'deliveries',
  version: 1,
  events,
  doc,
  indexes: [
    { workspaceId: 1, webhookId: 1, createdMs: -1, order: -1 },
    { workspaceId: 1, webhookId: 1, state: 1, createdMs: -1, order: -1 },
    { workspaceId: 1, webhookId: 1, dueMs: 1, order: 1 },
  ],
  columns: ['event', 'test'],
  key: ({ data }) => data.deliveryId,
  create: {
    DeliveryQueued({ data, meta, position }): Doc | null {
      if (meta.workspaceId === null) return null
      const { deliveryId: _id, occurredAt, data: _payload, ...delivery } = data
      return {
        ...delivery,
        workspaceId: meta.workspaceId,
        state: 'queued',
        createdAt: occurredAt,
        createdMs: Date.parse(occurredAt),
        order: position,
        dueMs: Date.parse(meta.at),
        nextN: 1,
        accepted: false,
        attempts: [],
      }
    },
  },
  update: {
    DeliveryAttempted(doc, { data: { n, occurredAt, status, ms, error, accepted, nextAttemptAt } }) {
      const attempted = withAttempt(doc, { n, at: occurredAt, status, ms, error }, accepted)
      return nextAttemptAt === null
        ? withNext(attempted, null, null)
        : withNext(attempted, Date.parse(nextAttemptAt), n + 1)
    },
    DeliveryReplayed: (doc, { data }) => withNext(doc, Date.parse(data.occurredAt), data.n),
    DeliveryStopped: (doc, { data: { n, occurredAt, sentence } }) =>
      withNext(withAttempt(doc, { n, at: occurredAt, status: 0, ms: 0, error: sentence }, false), null, null),
    DeliveryRemoved: () => null,
  },
})
