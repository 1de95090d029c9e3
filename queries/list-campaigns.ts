import { z } from 'zod'
import { callLog } from '../projections/call-log.ts'
import { campaigns } from '../projections/campaigns.ts'
import { lanes } from '../projections/lanes.ts'
import { numbers } from '../projections/numbers.ts'
import { routes } from '../projections/routes.ts'
import { usage } from '../projections/usage.ts'
import { verticals } from '../projections/verticals.ts'
import { campaignStatus, routingMode } from '../src/domain/campaign.ts'
import { CAMPAIGN, SEARCH_LENGTH } from '../src/domain/limits.ts'
import { defineQuery } from '../src/kernel/query.ts'
import { pageOf } from '../src/kernel/wire.ts'
import type { QueryPorts } from '../src/ports/query-ports.ts'
import { campaignShape, campaignShapes } from './campaign-shape.ts'
import { readPage } from './documents.ts'
import { listed, listQuery, RECORD_ORDERS, searching, windowOf, withStatus } from './listing.ts'

/** Campaigns, without their checklists. */
export const listCampaigns = defineQuery({
  name: 'list-campaigns',
  summary: 'List campaigns',
  mounts: [
    { surface: 'rest', path: '/api/v1/campaigns', scope: 'campaigns:read' },
    { surface: 'console', path: '/api/tracking/campaigns' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH_LENGTH).optional(),
    status: campaignStatus.optional(),
    routingMode: routingMode.optional(),
    verticalId: z.string().max(CAMPAIGN.verticalId).optional(),
    ...listQuery(RECORD_ORDERS),
  }),
  response: pageOf(campaignShape),
  reads: [campaigns, verticals, numbers, routes, lanes, usage, callLog],
  steady: true,
  async run({ views }: QueryPorts, { query, ...asked }) {
    const { routingMode, verticalId } = query
    const filter = {
      workspaceId: asked.tenant.workspaceId,
      ...withStatus(query.status, 'archived'),
      ...searching(query.q, ['name']),
      ...(routingMode && { routingMode }),
      ...(verticalId && { verticalId }),
    }
    const { docs, total } = await readPage(views, campaigns, filter, windowOf(query))
    return listed(await campaignShapes(views, asked, docs), query, total)
  },
})
