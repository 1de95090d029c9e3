import { z } from 'zod'
import { deliveries } from '../../projections/delivery/deliveries.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { deliveryShape, deliveryShapeOf } from './delivery-shape.ts'

/** One delivery: the response of a test and of a replay. It has no route of its own. */
export const getDelivery = defineQuery({
  name: 'get-delivery',
  summary: 'Read a delivery',
  mounts: [],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ delivery: deliveryShape }),
  reads: [deliveries],
  rejects: ['delivery-not-found'],
  async run(ports: QueryPorts, { params, tenant: { workspaceId }, now }) {
    const doc = await readOne(ports.views, deliveries, workspaceId, params.id)
    return doc ? { delivery: await deliveryShapeOf(ports, doc, now) } : refuse('delivery-not-found')
  },
})
