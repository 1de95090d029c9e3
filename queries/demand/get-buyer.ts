import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readAll, readOne } from '../shared/documents.ts'
import { buyerShape, buyerShapes } from './buyer-shape.ts'
import { targetShape, targetShapes } from './target-shape.ts'

/** A buyer and its targets that are not archived, oldest first. Bidder headers and templates are hidden on both surfaces. */
export const getBuyer = defineQuery({
  name: 'get-buyer',
  summary: 'Read a buyer and its targets',
  mounts: [
    { surface: 'rest', path: '/api/v1/buyers/:id', scope: 'buyers:read' },
    { surface: 'console', path: '/api/tracking/buyers/:id', scope: 'buyers:read' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ buyer: buyerShape, targets: z.array(targetShape) }),
  reads: [buyers, targets, capCounters, callLog],
  rejects: ['buyer-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, ...request }) {
    const { workspaceId } = request.tenant
    const doc = await readOne(views, buyers, workspaceId, params.id)
    if (!doc) return refuse('buyer-not-found')
    const filter = { workspaceId, buyerId: doc.id, status: { $ne: 'archived' } }
    const owned = await readAll(views, targets, { filter, sort: { createdAt: 1 } })
    const [shapes, ownedShapes] = await Promise.all([
      buyerShapes(views, request, [doc]),
      targetShapes(views, request, owned, { open: null }),
    ])
    const [buyer] = shapes
    return buyer ? { buyer, targets: ownedShapes } : refuse('buyer-not-found')
  },
})
