import { z } from 'zod'
import { deliveries } from '../../projections/delivery/deliveries.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { deliveryState } from '../../src/domain/delivery/delivery.ts'
import { webhookEventName } from '../../src/domain/delivery/webhook-events.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, pageOf, skipOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne, readPage } from '../shared/documents.ts'
import { pageFields, pageResponse } from '../shared/listing.ts'
import { timeWindowFields, timeWindowProblem } from '../shared/time-window.ts'
import { deliveryShape, deliveryShapeOf } from './delivery-shape.ts'

/** The delivery log of an endpoint, newest first. */
export const listDeliveries = defineQuery({
  name: 'list-deliveries',
  summary: "List an endpoint's deliveries",
  mounts: [{ surface: 'console', path: '/api/tracking/webhooks/:id/deliveries' }],
  params: z.object({ id }),
  query: z.object({
    state: deliveryState.optional(),
    event: webhookEventName.optional(),
    ...timeWindowFields,
    ...pageFields,
  }),
  response: pageOf(deliveryShape),
  reads: [webhooks, deliveries],
  rejects: ['webhook-not-found', 'validation-error'],
  async run(ports: QueryPorts, { params, query, tenant: { workspaceId }, now }) {
    const { state, event, from, to } = query
    const problem = timeWindowProblem(query)
    if (problem) return problem
    if (!(await readOne(ports.views, webhooks, workspaceId, params.id))) return refuse('webhook-not-found')
    const created = { ...(from && { $gte: Date.parse(from) }), ...(to && { $lt: Date.parse(to) }) }
    const filter = {
      workspaceId,
      webhookId: params.id,
      ...(state && { state }),
      ...(event && { event }),
      ...((from || to) && { createdMs: created }),
    }
    const page = { sort: { createdMs: -1, order: -1 }, skip: skipOf(query), limit: query.pageSize } as const
    const { docs, total } = await readPage(ports.views, deliveries, filter, page)
    const rows = await Promise.all(docs.map((doc) => deliveryShapeOf(ports, doc, now)))
    return pageResponse(rows, query, total)
  },
})
