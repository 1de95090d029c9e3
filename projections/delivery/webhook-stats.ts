import { z } from 'zod'
import { deliveryEvents } from '../../src/domain/delivery/delivery.ts'
import { addLatency } from '../../src/domain/delivery/latency-buckets.ts'
import { WEBHOOK } from '../../src/domain/shared/limits.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { DeliveryAttempted } = deliveryEvents

/** Length of a slice (ms): windows begin at quarters of an hour. */
export const SLICE_MS = 15 * 60_000
const WINDOW_MS = WEBHOOK.statsHours * 3_600_000

const doc = z.object({
  workspaceId: id,
  webhookId: id,
  /** Begin of the slice (ms since the epoch). */
  fromMs: z.int(),
  attempts: z.int(),
  delivered: z.int(),
  failed: z.int(),
  /** Requests by the bucket of their duration (`latency-buckets.ts`). */
  latencies: z.record(z.string(), z.int()),
  /** The last request. */
  lastStatus: z.int(),
  lastOk: z.boolean(),
  lastMs: z.int(),
})
type Doc = Readonly<z.infer<typeof doc>>
type Attempt = Readonly<z.infer<typeof DeliveryAttempted>>

const sliceOf = (occurredAt: string) => Math.floor(Date.parse(occurredAt) / SLICE_MS) * SLICE_MS

function withAttempt(slice: Doc, { occurredAt, status, ms, accepted }: Attempt): Doc {
  const at = Date.parse(occurredAt)
  return {
    ...slice,
    attempts: slice.attempts + 1,
    delivered: slice.delivered + (accepted ? 1 : 0),
    failed: slice.failed + (accepted ? 0 : 1),
    latencies: addLatency(slice.latencies, ms),
    ...(at >= slice.lastMs && { lastStatus: status, lastOk: accepted, lastMs: at }),
  }
}

/** Requests of each endpoint by quarter of an hour, for as long as the last 24 hours may show them. */
export const webhookStats = defineProjection({
  name: 'webhook-stats',
  version: 1,
  events: { DeliveryAttempted },
  doc,
  indexes: [{ workspaceId: 1, webhookId: 1, fromMs: 1 }],
  key: ({ data }) => `${data.webhookId}:${sliceOf(data.occurredAt)}`,
  create: {
    DeliveryAttempted({ data, meta: { workspaceId } }): Doc | null {
      if (workspaceId === null) return null
      const { webhookId, occurredAt } = data
      const fromMs = sliceOf(occurredAt)
      const none = { attempts: 0, delivered: 0, failed: 0, latencies: {}, lastStatus: 0, lastOk: false, lastMs: fromMs }
      return withAttempt({ workspaceId, webhookId, fromMs, ...none }, data)
    },
  },
  update: { DeliveryAttempted: (doc, { data }): Doc => withAttempt(doc, data) },
  expiresAt: ({ fromMs }) => fromMs + WINDOW_MS + 2 * SLICE_MS,
})
