import { z } from 'zod'
import { refuseCampaignTransition } from '../../src/domain/campaigns/campaign-transitions.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Lifts a campaign's restriction. The campaign is paused then. */
export const unrestrictCampaign = defineCommand({
  name: 'unrestrict-campaign',
  entity: workspace,
  input: z.object({ campaignId: id, note: statusNote.nullish() }),
  rejects: ['campaign-not-found', 'conflict'],
  decide({ campaignId, note }, { campaigns }) {
    const campaign = campaigns.get(campaignId)
    if (!campaign) return refuseNotFound('campaign')
    const { name, status: from } = campaign
    const to = 'paused' as const
    const refused = refuseCampaignTransition(campaign, to, 'staff')
    if (refused) return refused
    if (from === to) return []
    return [{ type: 'CampaignStatusChanged', data: { campaignId, name, from, to, note: note ?? null } }]
  },
})
