import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readAll, readOne } from '../shared/documents.ts'
import { routeShape, routeShapes } from './route-shape.ts'

/** A campaign's routing plan, by priority, then by creation. */
export const listRoutes = defineQuery({
  name: 'list-routes',
  summary: "Read a campaign's routing plan",
  mounts: [{ surface: 'console', path: '/api/tracking/campaigns/:id/routes' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ routes: z.array(routeShape) }),
  reads: [campaigns, routes, targets, buyers],
  rejects: ['campaign-not-found'],
  async run({ views }: QueryPorts, { params, tenant: { workspaceId } }) {
    const campaign = await readOne(views, campaigns, workspaceId, params.id)
    if (!campaign) return refuse('campaign-not-found')
    const filter = { workspaceId, campaignId: campaign.id }
    const plan = await readAll(views, routes, { filter, sort: { priority: 1, createdAt: 1 } })
    return { routes: await routeShapes(views, plan) }
  },
})
