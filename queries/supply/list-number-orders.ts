import { z } from 'zod'
import { numberOrders } from '../../projections/supply/number-orders.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { orderStatus } from '../../src/domain/supply/number-order.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, readListPage } from '../shared/listing.ts'
import { numberFilter } from '../shared/number-search.ts'
import { orderRow, orderRowOf } from './number-order-shape.ts'

/** Orders of numbers, the newest first. */
export const listNumberOrders = defineQuery({
  name: 'list-number-orders',
  summary: 'List orders of numbers',
  mounts: [{ surface: 'console', path: '/api/tracking/numbers/orders' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.number).optional(),
    status: orderStatus.optional(),
    ...listQuery('number-orders', ['createdAt', 'updatedAt', 'e164', 'status']),
  }),
  response: pageOf(orderRow),
  reads: [numberOrders],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const filter = { workspaceId, ...(query.status && { status: query.status }), ...numberFilter(query.q) }
    const { docs, respond } = await readListPage(views, numberOrders, filter, query)
    return respond(docs.map(orderRowOf))
  },
})
