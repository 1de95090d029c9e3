import { z } from 'zod'
import { restrictCampaign } from '../../../commands/campaigns/restrict-campaign.ts'
import { unrestrictCampaign } from '../../../commands/campaigns/unrestrict-campaign.ts'
import { campaigns } from '../../../projections/campaigns/campaigns.ts'
import { campaignDetail } from '../../../queries/campaigns/campaign-shape.ts'
import { getCampaign } from '../../../queries/campaigns/get-campaign.ts'
import { restrictionNote } from '../../domain/campaigns/campaign-transitions.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'

const path = '/api/operator/campaigns/:id'
const byId = {
  method: 'POST',
  params: z.object({ id }),
  tenantFrom: campaigns,
  record: ({ id }: { readonly id: string }) => id,
  responses: { 200: z.object({ campaign: campaignDetail, changed: z.boolean() }) },
} as const

const restrict = defineWrite({
  ...byId,
  name: 'restrict-campaign',
  summary: 'Restrict a campaign',
  mounts: [{ surface: 'operator', path: `${path}/restrict` }],
  body: z.object({ note: restrictionNote }),
  command: restrictCampaign,
  input: ({ params, body }) => ({ campaignId: params.id, ...body }),
  answer: { query: getCampaign, params: ({ params }) => params },
  respond: ({ answer, outcome }) => ({ ...answer, changed: outcome.changed }),
})

const unrestrict = defineWrite({
  ...byId,
  name: 'unrestrict-campaign',
  summary: 'Lift the restriction of a campaign',
  mounts: [{ surface: 'operator', path: `${path}/unrestrict` }],
  body: z.object({ note: statusNote.nullish() }),
  command: unrestrictCampaign,
  input: ({ params, body }) => ({ campaignId: params.id, ...body }),
  answer: { query: getCampaign, params: ({ params }) => params },
  respond: ({ answer, outcome }) => ({ ...answer, changed: outcome.changed }),
})

/** The operator's writes of campaigns (Supplement §2, Operator). */
export const campaignRestrictions: readonly Write[] = [restrict, unrestrict]
