import { z } from 'zod'
import { numberOrders } from '../../projections/supply/number-orders.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal, refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { getNumber } from './get-number.ts'
import { orderShape, orderShapeOf } from './number-order-shape.ts'
import { numberShape } from './number-shape.ts'

/** An order of a number and, once it is completed, the number. */
export const getNumberOrder = defineQuery({
  name: 'get-number-order',
  summary: 'Read an order of a number',
  mounts: [{ surface: 'console', path: '/api/tracking/numbers/orders/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ order: orderShape, number: numberShape.nullable() }),
  reads: [numberOrders, ...getNumber.reads],
  rejects: ['order-not-found'],
  record: ({ id }) => id,
  async run(ports: QueryPorts, { params, ...request }) {
    const doc = await readOne(ports.views, numberOrders, request.tenant.workspaceId, params.id)
    if (!doc) return refuse('order-not-found')
    if (doc.numberId === null) return { order: orderShapeOf(doc), number: null }
    const found = await getNumber.run(ports, { ...request, params: { id: doc.numberId } })
    // Projections advance separately: the order is shown as completed once its number can be read.
    return isRefusal(found)
      ? { order: { ...orderShapeOf(doc), status: 'pending' as const }, number: null }
      : { order: orderShapeOf(doc), number: found.number }
  },
})
