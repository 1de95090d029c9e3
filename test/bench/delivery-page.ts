import { deliveries } from '../../projections/delivery/deliveries.ts'
import { deliveryShape, deliveryShapeOf } from '../../queries/delivery/delivery-shape.ts'
import { listDeliveries } from '../../queries/delivery/list-deliveries.ts'
import { readSlice } from '../../queries/shared/documents.ts'
import { atCursor, pageOptions, pageResponse } from '../../queries/shared/listing.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'

/** The delivery log as `call-page.ts` has the call list: the same filter, order and rows. Its total is that of the page. */
export const deliveryPage = defineQuery({
  name: 'delivery-page',
  summary: 'List deliveries without their total',
  mounts: [{ surface: 'rest', path: '/api/v1/delivery-page/:id', scope: null }],
  params: listDeliveries.params,
  query: listDeliveries.query,
  response: pageOf(deliveryShape),
  reads: [deliveries],
  async run(ports: QueryPorts, { params, query, tenant: { workspaceId }, now }) {
    const filter = { workspaceId, webhookId: params.id, ...(query.state && { state: query.state }) }
    const asked = atCursor(query)
    const page = pageOptions(asked, () => ({ createdMs: -1, order: -1 }))
    const { docs, next } = await readSlice(ports.views, deliveries, filter, page)
    const rows = await Promise.all(docs.map((doc) => deliveryShapeOf(ports, doc, now)))
    return pageResponse(rows, asked, { total: rows.length, next })
  },
})
