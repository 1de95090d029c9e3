import { z } from 'zod'
import {
  applyCampaignInput,
  type CampaignSettings,
  campaignInput,
  campaignProblems,
} from '../../src/domain/campaigns/campaign.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseArchived, refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a campaign, from the next call on. The rules apply to the campaign after the change. */
export const changeCampaign = defineCommand({
  name: 'change-campaign',
  entity: workspace,
  input: z.object({ campaignId: id, changes: campaignInput }),
  rejects: ['bad-request', 'campaign-not-found', 'conflict'],
  decide({ campaignId, changes }, { campaigns }) {
    const campaign = campaigns.get(campaignId)
    if (!campaign) return refuseNotFound('campaign')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const settings = applyCampaignInput(campaign, changes)
    const problems = campaignProblems(settings, changes)
    if (problems) return refuse('bad-request', problems)
    if (campaign.status === 'archived') return refuseArchived('Campaign')
    const difference = diff<CampaignSettings>(campaign, settings)
    return difference ? [{ type: 'CampaignChanged', data: { campaignId, name: campaign.name, ...difference } }] : []
  },
})
