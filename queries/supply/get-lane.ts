import { z } from 'zod'
import { publishers } from '../../projections/supply/publishers.ts'
import { laneId } from '../../src/domain/supply/lane.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { campaignLaneShape, LANE_READS, laneOfCampaign } from './lane-shape.ts'

/** A publisher's lane on a campaign. */
export const getLane = defineQuery({
  name: 'get-lane',
  summary: 'Read a lane',
  mounts: [{ surface: 'console', path: '/api/tracking/campaigns/:id/publishers/:publisherId' }],
  params: z.object({ id, publisherId: id }),
  query: z.object({}),
  response: z.object({ lane: campaignLaneShape }),
  reads: [...LANE_READS, publishers],
  rejects: ['lane-not-found'],
  record: ({ id, publisherId }) => laneId(id, publisherId),
  flushesUsage: true,
  async run(ports: QueryPorts, { params: { id, publisherId }, tenant: { workspaceId }, now }) {
    const lane = await laneOfCampaign(ports, { workspaceId, campaignId: id, publisherId }, now)
    return lane ? { lane } : refuse('lane-not-found')
  },
})
