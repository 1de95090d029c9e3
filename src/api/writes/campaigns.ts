import { z } from 'zod'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { campaignDetail } from '../../../queries/campaigns/campaign-shape.ts'
import { getCampaign } from '../../../queries/campaigns/get-campaign.ts'
import { campaignInput } from '../../domain/campaigns/campaign.ts'
import type { CampaignMover } from '../../domain/campaigns/campaign-transitions.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import type { Mount } from '../../kernel/query.ts'
import { defineWrite } from './define-write.ts'
import { recordRoute, type Write } from './write-route.ts'

const path = '/api/tracking/campaigns'
const byId = recordRoute('campaigns')

const create = defineWrite({
  name: 'create-campaign',
  summary: 'Add a campaign, as a draft',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createCampaign.input,
  responses: { 201: z.object({ campaign: campaignDetail }) },
  command: createCampaign,
  input: ({ body }) => body,
  answer: {
    query: getCampaign,
    params: ({ outcome }) => ({ id: outcome.first('CampaignCreated')?.campaign.id ?? '' }),
  },
})

const change = defineWrite({
  ...byId,
  name: 'change-campaign',
  summary: 'Change a campaign',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: campaignInput,
  responses: { 200: z.object({ campaign: campaignDetail }) },
  command: changeCampaign,
  input: ({ params, body }) => ({ campaignId: params.id, changes: body }),
  answer: { query: getCampaign, params: ({ params }) => params },
})

const note = statusNote.nullish()

/** A status route: one surface, with the status changes that its users may make. */
const statusRoute = (
  mover: Exclude<CampaignMover, 'staff'>,
  summary: string,
  mount: Mount,
  status: z.ZodType<'live' | 'paused' | 'archived' | 'draft'>,
) =>
  defineWrite({
    ...byId,
    name: `set-campaign-status-by-${mover}`,
    summary,
    method: 'POST',
    mounts: [mount],
    body: z.object({ status, note }),
    responses: { 200: z.object({ campaign: campaignDetail, changed: z.boolean() }) },
    command: setCampaignStatus,
    input: ({ params, body }) => ({ campaignId: params.id, mover, ...body }),
    answer: { query: getCampaign, params: ({ params }) => params },
    respond: ({ answer, outcome }) => ({ ...answer, changed: outcome.changed }),
  })

const setStatus = statusRoute(
  'console',
  'Launch, pause, resume, archive or restore a campaign',
  { surface: 'console', path: `${path}/:id/status` },
  z.enum(['live', 'paused', 'archived', 'draft']),
)

const pauseOrResume = statusRoute(
  'key',
  'Pause or resume a campaign',
  { surface: 'rest', path: '/api/v1/campaigns/:id/status', scope: 'campaigns:write' },
  z.enum(['live', 'paused']),
)

/** Writes of campaigns (Document 1, "Campaigns"). */
export const campaignWrites: readonly Write[] = [create, change, setStatus, pauseOrResume]
