import { z } from 'zod'
import { restrictCampaign } from '../../../commands/campaigns/restrict-campaign.ts'
import { unrestrictCampaign } from '../../../commands/campaigns/unrestrict-campaign.ts'
import { campaigns } from '../../../projections/campaigns/campaigns.ts'
import { campaignDetail } from '../../../queries/campaigns/campaign-shape.ts'
import { getCampaign } from '../../../queries/campaigns/get-campaign.ts'
import { restrictionNote } from '../../domain/campaigns/campaign-transitions.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'
import type { CommandOutcome, WriteContext } from './write-context.ts'

const path = '/api/operator/campaigns/:id'
const one = {
  method: 'POST',
  params: z.object({ id }),
  tenantFrom: campaigns,
  record: ({ id }: { readonly id: string }) => id,
  responses: { 200: z.object({ campaign: campaignDetail, changed: z.boolean() }) },
} as const

/** Moves a campaign in the workspace that it belongs to, and answers it. */
async function moved(
  { params, ask }: WriteContext<{ readonly id: string }, unknown>,
  move: () => Promise<Pick<CommandOutcome<never>, 'changed'> | Refusal>,
) {
  const done = await move()
  if (isRefusal(done)) return done
  const answer = await ask(getCampaign, params)
  return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: done.changed } }
}

const restrict = defineWrite({
  ...one,
  name: 'restrict-campaign',
  summary: 'Restrict a campaign',
  mounts: [{ surface: 'operator', path: `${path}/restrict` }],
  body: z.object({ note: restrictionNote }),
  rejects: restrictCampaign.rejects,
  run: (writing) =>
    moved(writing, () => writing.act(restrictCampaign, { campaignId: writing.params.id, ...writing.body })),
})

const unrestrict = defineWrite({
  ...one,
  name: 'unrestrict-campaign',
  summary: 'Lift the restriction of a campaign',
  mounts: [{ surface: 'operator', path: `${path}/unrestrict` }],
  body: z.object({ note: statusNote.nullish() }),
  rejects: unrestrictCampaign.rejects,
  run: (writing) =>
    moved(writing, () => writing.act(unrestrictCampaign, { campaignId: writing.params.id, ...writing.body })),
})

/** What the platform's staff does to campaigns (Supplement §2, Operator). */
export const campaignRestrictions: readonly Write[] = [restrict, unrestrict]
