import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { campaignStatus, routingMode } from '../../src/domain/campaigns/campaign.ts'
import { CAMPAIGN, SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, RECORD_SORTS, readListPage, statusFilter, textFilter } from '../shared/listing.ts'
import { campaignShape, campaignShapes } from './campaign-shape.ts'

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
    q: z.string().max(SEARCH.text).optional(),
    status: campaignStatus.optional(),
    routingMode: routingMode.optional(),
    verticalId: z.string().max(CAMPAIGN.verticalId).optional(),
    ...listQuery('campaigns', RECORD_SORTS),
  }),
  response: pageOf(campaignShape),
  reads: [campaigns, verticals, numbers, routes, lanes, capCounters, callLog],
  cacheable: true,
  async run({ views }: QueryPorts, { query, ...request }) {
    const { routingMode, verticalId } = query
    const filter = {
      workspaceId: request.tenant.workspaceId,
      ...statusFilter(query.status, 'archived'),
      ...textFilter(query.q, ['name']),
      ...(routingMode && { routingMode }),
      ...(verticalId && { verticalId }),
    }
    const { docs, respond } = await readListPage(views, campaigns, filter, query)
    return respond(await campaignShapes(views, request, docs))
  },
})
