import { z } from 'zod'
import { refuseCampaignTransition, restrictionNote } from '../../src/domain/campaigns/campaign-transitions.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Restricts a campaign: it takes no calls until the platform's staff lifts the restriction. */
export const restrictCampaign = defineCommand({
  name: 'restrict-campaign',
  entity: workspace,
  input: z.object({ campaignId: id, note: restrictionNote }),
  rejects: ['campaign-not-found', 'conflict'],
  decide({ campaignId, note }, { campaigns }) {
    const campaign = campaigns.get(campaignId)
    if (!campaign) return refuseNotFound('campaign')
    const { name, status: from } = campaign
    const to = 'restricted' as const
    const refused = refuseCampaignTransition(campaign, to, 'staff')
    if (refused) return refused
    return from === to ? [] : [{ type: 'CampaignStatusChanged', data: { campaignId, name, from, to, note } }]
  },
})
