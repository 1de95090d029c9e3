import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { payoutTerms } from '../../src/domain/money/payout-terms.ts'
import { payoutTermsOf } from '../../src/domain/routing/payout-withholding.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readReferenced } from '../shared/documents.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { nameReference } from '../shared/reference.ts'
import { LANE_READS, laneShape, lanesOfPublishers } from './lane-shape.ts'

/** A lane as its publisher sees it (Supplement §10): own terms, caps, usage and the public note. */
const portalLane = laneShape
  .omit({ notesInternal: true })
  .extend({
    campaign: named.nullable(),
    /** The payout terms in force: the lane's own, or those of the campaign that it inherits. */
    payout: payoutTerms.nullable(),
  })
  .meta({ id: 'PortalLane' })

/** The lanes of a publisher, the oldest first. */
export const listPortalLanes = defineQuery({
  name: 'list-portal-lanes',
  summary: "List the publisher's lanes",
  mounts: [{ surface: 'portal', path: '/api/portal/lanes' }],
  params: z.object({}),
  query: z.object({}),
  response: z.object({ lanes: z.array(portalLane) }),
  reads: LANE_READS,
  flushesUsage: true,
  async run(ports: QueryPorts, { tenant, now }) {
    const publisherId = portalPublisher(tenant)
    const found = (await lanesOfPublishers(ports, tenant.workspaceId, [publisherId], now))(publisherId)
    const named = await readReferenced(ports.views, campaigns, found, ({ campaignId }) => campaignId)
    const lanes = found.map(({ notesInternal: _notes, ...lane }) => {
      const campaign = named.get(lane.campaignId)
      return {
        ...lane,
        campaign: nameReference(campaign),
        payout: campaign ? payoutTermsOf(lane, campaign) : null,
      }
    })
    return { lanes }
  },
})
