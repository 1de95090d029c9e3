import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { webhookCounters } from '../../projections/delivery/webhook-counters.ts'
import { SLICE_MS, webhookStats } from '../../projections/delivery/webhook-stats.ts'
import type { webhooks } from '../../projections/delivery/webhooks.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { latencyPercentile } from '../../src/domain/delivery/latency-buckets.ts'
import { isSigned, webhook } from '../../src/domain/delivery/webhook.ts'
import { WEBHOOK } from '../../src/domain/shared/limits.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { webhookHeaderPlace } from '../../src/ports/sealed-places.ts'
import { type DocOf, readAll, readMany, readReferenced } from '../shared/documents.ts'

/** Requests of the last 24 hours (Document 2, Webhook or pixel endpoint). */
const stats = z
  .object({
    window: z.literal(`${WEBHOOK.statsHours}h`),
    attempts: z.int(),
    delivered: z.int(),
    failed: z.int(),
    p50: z.int().nullable(),
    p95: z.int().nullable(),
    lastStatus: z.int().nullable(),
    lastOk: z.boolean().nullable(),
    lastAt: instant.nullable(),
  })
  .meta({ id: 'WebhookStats' })
type Stats = z.infer<typeof stats>

/** An endpoint in a response: its headers in plain text, of its secret the hint alone. */
export const webhookShape = webhook
  .omit({ secret: true })
  .extend({
    headers: z.record(z.string(), z.string()),
    campaignName: z.string().nullable(),
    publisherName: z.string().nullable(),
    signed: z.boolean(),
    secretHint: z.string().nullable(),
    deliveredCount: z.int(),
    failedCount: z.int(),
    stats,
  })
  .meta({ id: 'Webhook' })

/** The read models that an endpoint's shape is made of. */
export const WEBHOOK_READS = [webhookCounters, webhookStats, campaigns, publishers]

type Slice = DocOf<typeof webhookStats>

const sumOf = (slices: readonly Slice[], field: 'attempts' | 'delivered' | 'failed') =>
  slices.reduce((sum, slice) => sum + slice[field], 0)

function statsOf(slices: readonly Slice[]): Stats {
  const latencies = slices.map((slice) => slice.latencies)
  const last = slices.toSorted((one, other) => one.lastMs - other.lastMs).at(-1)
  return {
    window: `${WEBHOOK.statsHours}h`,
    attempts: sumOf(slices, 'attempts'),
    delivered: sumOf(slices, 'delivered'),
    failed: sumOf(slices, 'failed'),
    p50: latencyPercentile(latencies, 0.5),
    p95: latencyPercentile(latencies, 0.95),
    lastStatus: last?.lastStatus ?? null,
    lastOk: last?.lastOk ?? null,
    lastAt: last ? new Date(last.lastMs).toISOString() : null,
  }
}

/** Endpoints with names, counters and the requests of the last 24 hours; the window begins at a quarter of an hour. */
export async function webhookShapes(
  { views, secrets }: Pick<QueryPorts, 'views' | 'secrets'>,
  workspaceId: string,
  docs: readonly WithId<DocOf<typeof webhooks>>[],
  now: string,
): Promise<z.infer<typeof webhookShape>[]> {
  if (docs.length === 0) return []
  const ids = docs.map(({ id }) => id)
  const from = Math.floor((Date.parse(now) - WEBHOOK.statsHours * 3_600_000) / SLICE_MS) * SLICE_MS
  const [counters, slices, campaignsById, publishersById] = await Promise.all([
    readMany(views, webhookCounters, ids),
    readAll(views, webhookStats, { filter: { workspaceId, webhookId: { $in: ids }, fromMs: { $gte: from } } }),
    readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId),
    readReferenced(views, publishers, docs, ({ publisherId }) => publisherId),
  ])
  const slicesOf = Map.groupBy(slices, ({ webhookId }) => webhookId)
  return docs.map(({ workspaceId: _workspace, secret, headers, ...record }) => {
    const { id, campaignId, publisherId } = record
    const signed = isSigned(record)
    const opened = Object.entries(headers).map(([name, value]) => [
      name,
      secrets.unseal(value, webhookHeaderPlace(workspaceId, id, name)),
    ])
    return {
      ...record,
      headers: Object.fromEntries(opened),
      campaignName: (campaignId && campaignsById.get(campaignId)?.name) || null,
      publisherName: (publisherId && publishersById.get(publisherId)?.name) || null,
      signed,
      secretHint: signed ? secret.hint : null,
      deliveredCount: counters.get(id)?.delivered ?? 0,
      failedCount: counters.get(id)?.failed ?? 0,
      stats: statsOf(slicesOf.get(id) ?? []),
    }
  })
}
