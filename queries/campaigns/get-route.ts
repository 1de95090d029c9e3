import { z } from 'zod'
import { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { routeKey } from '../../src/domain/campaigns/route.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { routeShape, routeShapes } from './route-shape.ts'

/** The route of a target on a campaign's routing plan. */
export const getRoute = defineQuery({
  name: 'get-route',
  summary: 'Read a route',
  mounts: [{ surface: 'console', path: '/api/tracking/campaigns/:id/routes/:targetId' }],
  params: z.object({ id, targetId: id }),
  query: z.object({}),
  response: z.object({ route: routeShape }),
  reads: [routes, targets, buyers],
  rejects: ['route-not-found'],
  record: ({ id, targetId }) => routeKey(id, targetId),
  async run({ views }: QueryPorts, { params, tenant }) {
    const doc = await readOne(views, routes, tenant.workspaceId, routeKey(params.id, params.targetId))
    const [route] = doc ? await routeShapes(views, [doc]) : []
    return route ? { route } : refuse('route-not-found')
  },
})
