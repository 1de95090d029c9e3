import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import { checklistOf } from '../../src/domain/configuration/checklist.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { campaignDetail, campaignShapes } from './campaign-shape.ts'
import { readLaunchFacts } from './launch-facts.ts'

/** A campaign with every setting and its go-live checklist. */
export const getCampaign = defineQuery({
  name: 'get-campaign',
  summary: 'Read a campaign',
  mounts: [
    { surface: 'rest', path: '/api/v1/campaigns/:id', scope: 'campaigns:read' },
    { surface: 'console', path: '/api/tracking/campaigns/:id' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ campaign: campaignDetail }),
  reads: [
    campaigns,
    verticals,
    numbers,
    routes,
    lanes,
    routingKeys,
    publishers,
    targets,
    buyers,
    wallets,
    capCounters,
    callLog,
  ],
  rejects: ['campaign-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, ...request }) {
    const doc = await readOne(views, campaigns, request.tenant.workspaceId, params.id)
    if (!doc) return refuse('campaign-not-found')
    const [shapes, facts] = await Promise.all([campaignShapes(views, request, [doc]), readLaunchFacts(views, doc)])
    const [campaign] = shapes
    return campaign ? { campaign: { ...campaign, ...checklistOf(facts) } } : refuse('campaign-not-found')
  },
})
