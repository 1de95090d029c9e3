import { z } from 'zod'
import { campaignProblems, campaignSent, campaignsHeld, campaignWith, plainCampaign } from '../src/domain/campaign.ts'
import { overCeiling } from '../src/domain/ceilings.ts'
import { CAMPAIGN } from '../src/domain/limits.ts'
import { prefixFor } from '../src/domain/names.ts'
import { missing } from '../src/domain/refusals.ts'
import { verticalOf } from '../src/domain/vertical.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'

/** Adds a campaign, always as a draft. */
export const createCampaign = defineCommand({
  name: 'create-campaign',
  entity: workspace,
  input: campaignSent.required({ name: true }).extend({ verticalId: z.string().min(1).max(CAMPAIGN.verticalId) }),
  rejects: ['bad-request', 'workspace-not-found', 'plan-upgrade-required'],
  decide({ verticalId, ...sent }, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return missing('workspace')
    const settings = campaignWith(plainCampaign(sent.name, workspace.timezone), sent)
    const vertical = verticalOf(verticalId)
      ? null
      : { verticalId: 'Neither a platform vertical nor the workspace’s own.' }
    const problems = campaignProblems(settings, sent)
    if (vertical || problems) return refuse('bad-request', { ...vertical, ...problems })
    const over = overCeiling(workspace.planId, 'maxTrackingCampaigns', campaignsHeld(state))
    if (over) return over
    const taken = new Set(state.campaigns.map(({ routingKeyPrefix }) => routingKeyPrefix).values())
    const campaign = {
      ...settings,
      id: newId(),
      kind: 'tracking',
      status: 'draft',
      statusNote: null,
      verticalId,
      routingKeyPrefix: prefixFor(settings.name, taken),
      publishedAt: null,
      createdAt: now,
      updatedAt: now,
    } as const
    return [{ type: 'CampaignCreated', data: { campaign } }]
  },
})
