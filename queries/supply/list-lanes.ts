import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { campaignLaneShape, LANE_READS, lanesOfCampaign } from './lane-shape.ts'

/** The lanes of a campaign, the oldest first. */
export const listLanes = defineQuery({
  name: 'list-lanes',
  summary: "List a campaign's lanes",
  mounts: [{ surface: 'console', path: '/api/tracking/campaigns/:id/publishers' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ lanes: z.array(campaignLaneShape) }),
  reads: [...LANE_READS, publishers],
  rejects: ['campaign-not-found'],
  flushesUsage: true,
  async run(ports: QueryPorts, { params, tenant: { workspaceId }, now }) {
    const campaign = await readOne(ports.views, campaigns, workspaceId, params.id)
    if (!campaign) return refuse('campaign-not-found')
    return { lanes: await lanesOfCampaign(ports, { workspaceId, campaignId: campaign.id }, now) }
  },
})
