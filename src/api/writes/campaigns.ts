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
import { isRefusal } from '../../kernel/refusal.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'

const path = '/api/tracking/campaigns'
const one = recordRoute('campaigns')

const create = defineWrite({
  name: 'create-campaign',
  summary: 'Add a campaign, as a draft',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createCampaign.input,
  responses: { 201: z.object({ campaign: campaignDetail }) },
  rejects: createCampaign.rejects,
  async run({ body, act, ask }) {
    const done = await act(createCampaign, body)
    if (isRefusal(done)) return done
    const answer = await ask(getCampaign, { id: done.first('CampaignCreated')?.campaign.id ?? '' })
    return isRefusal(answer) ? answer : { status: 201, body: answer }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-campaign',
  summary: 'Change a campaign',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: campaignInput,
  responses: { 200: z.object({ campaign: campaignDetail }) },
  rejects: changeCampaign.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changeCampaign, { campaignId: id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getCampaign, { id })
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const note = statusNote.nullish()

/** A status route: on one surface, with the moves of whoever uses it. */
const statusRoute = (
  mover: Exclude<CampaignMover, 'staff'>,
  summary: string,
  mount: Mount,
  status: z.ZodType<'live' | 'paused' | 'archived' | 'draft'>,
) =>
  defineWrite({
    ...one,
    name: `set-campaign-status-by-${mover}`,
    summary,
    method: 'POST',
    mounts: [mount],
    body: z.object({ status, note }),
    responses: { 200: z.object({ campaign: campaignDetail, changed: z.boolean() }) },
    rejects: setCampaignStatus.rejects,
    async run({ params: { id }, body, act, ask }) {
      const done = await act(setCampaignStatus, { campaignId: id, mover, ...body })
      if (isRefusal(done)) return done
      const answer = await ask(getCampaign, { id })
      return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: done.changed } }
    },
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
