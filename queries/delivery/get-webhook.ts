import { z } from 'zod'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { WEBHOOK_READS, webhookShape, webhookShapes } from './webhook-shape.ts'

/** A webhook or pixel endpoint. */
export const getWebhook = defineQuery({
  name: 'get-webhook',
  summary: 'Read a webhook or pixel',
  mounts: [{ surface: 'console', path: '/api/tracking/webhooks/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ webhook: webhookShape }),
  reads: [webhooks, ...WEBHOOK_READS],
  rejects: ['webhook-not-found'],
  record: ({ id }) => id,
  async run(ports: QueryPorts, { params, tenant: { workspaceId }, now }) {
    const doc = await readOne(ports.views, webhooks, workspaceId, params.id)
    const [webhook] = doc ? await webhookShapes(ports, workspaceId, [doc], now) : []
    return webhook ? { webhook } : refuse('webhook-not-found')
  },
})
