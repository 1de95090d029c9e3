import { z } from 'zod'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { webhook } from '../../src/domain/delivery/webhook.ts'
import { WEBHOOK } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { pageFields, readListPage, textFilter } from '../shared/listing.ts'
import { WEBHOOK_READS, webhookShape, webhookShapes } from './webhook-shape.ts'

/** Webhook and pixel endpoints, newest first. */
export const listWebhooks = defineQuery({
  name: 'list-webhooks',
  summary: 'List webhooks and pixels',
  mounts: [{ surface: 'console', path: '/api/tracking/webhooks' }],
  params: z.object({}),
  query: z.object({
    kind: webhook.shape.kind.optional(),
    status: webhook.shape.status.optional(),
    campaignId: id.optional(),
    publisherId: id.optional(),
    q: z.string().max(WEBHOOK.search).optional(),
    ...pageFields('webhooks'),
  }),
  response: pageOf(webhookShape),
  reads: [webhooks, ...WEBHOOK_READS],
  async run(ports: QueryPorts, { query, tenant: { workspaceId }, now }) {
    const { kind, status, campaignId, publisherId, q } = query
    const filter = {
      workspaceId,
      ...(kind && { kind }),
      ...(status && { status }),
      ...(campaignId && { campaignId }),
      ...(publisherId && { publisherId }),
      ...textFilter(q, ['name', 'url', 'note']),
    }
    const { docs, respond } = await readListPage(ports.views, webhooks, filter, query, () => ({ createdAt: -1 }))
    return respond(await webhookShapes(ports, workspaceId, docs, now))
  },
})
