import { z } from 'zod'
import { deliveries } from '../../projections/delivery/deliveries.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { deliveryState } from '../../src/domain/delivery/delivery.ts'
import { webhookEventName } from '../../src/domain/delivery/webhook-events.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal, refuse } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { openCursor } from '../shared/list-cursor.ts'
import { pageFields, readListPage } from '../shared/listing.ts'
import { timeWindowFields, timeWindowProblem } from '../shared/time-window.ts'
import { deliveryShape, deliveryShapeOf } from './delivery-shape.ts'

const ORDER = { createdMs: -1, order: -1 } as const

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
    ...pageFields('deliveries'),
  }),
  response: pageOf(deliveryShape),
  reads: [webhooks, deliveries],
  rejects: ['webhook-not-found', 'validation-error'],
  async run(ports: QueryPorts, { params, query, tenant: { workspaceId }, now }) {
    const { state, event, from, to } = query
    const problem = timeWindowProblem(query)
    if (problem) return problem
    if (!(await readOne(ports.views, webhooks, workspaceId, params.id))) return refuse('webhook-not-found')
    // `order` is a position in the log of all workspaces, which a reader of one may not see.
    const asked = openCursor(query, ports.secrets, workspaceId)
    if (isRefusal(asked)) return asked
    const created = { ...(from && { $gte: Date.parse(from) }), ...(to && { $lt: Date.parse(to) }) }
    const filter = {
      workspaceId,
      webhookId: params.id,
      ...(state && { state }),
      ...(event && { event }),
      ...((from || to) && { createdMs: created }),
    }
    const { docs, respond } = await readListPage(ports.views, deliveries, filter, asked, () => ORDER)
    const rows = await Promise.all(docs.map((doc) => deliveryShapeOf(ports, doc, now)))
    return respond(rows)
  },
})
