import { z } from 'zod'
import { buyers } from '../projections/buyers.ts'
import { callLog } from '../projections/call-log.ts'
import { campaigns } from '../projections/campaigns.ts'
import { lanes } from '../projections/lanes.ts'
import { numbers } from '../projections/numbers.ts'
import { routes } from '../projections/routes.ts'
import { routingKeys } from '../projections/routing-keys.ts'
import { targets } from '../projections/targets.ts'
import { usage } from '../projections/usage.ts'
import { verticals } from '../projections/verticals.ts'
import { wallets } from '../projections/wallets.ts'
import { checklistOf } from '../src/domain/checklist.ts'
import { defineQuery } from '../src/kernel/query.ts'
import { refuse } from '../src/kernel/refusal.ts'
import { id } from '../src/kernel/wire.ts'
import type { QueryPorts } from '../src/ports/query-ports.ts'
import { factsOf } from './campaign-facts.ts'
import { campaignInFull, campaignShapes } from './campaign-shape.ts'
import { readOne } from './documents.ts'

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
  response: z.object({ campaign: campaignInFull }),
  reads: [campaigns, verticals, numbers, routes, lanes, routingKeys, targets, buyers, wallets, usage, callLog],
  rejects: ['campaign-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, ...asked }) {
    const doc = await readOne(views, campaigns, asked.tenant.workspaceId, params.id)
    if (!doc) return refuse('campaign-not-found')
    const [shapes, facts] = await Promise.all([campaignShapes(views, asked, [doc]), factsOf(views, doc)])
    const [campaign] = shapes
    return campaign ? { campaign: { ...campaign, ...checklistOf(facts) } } : refuse('campaign-not-found')
  },
})
