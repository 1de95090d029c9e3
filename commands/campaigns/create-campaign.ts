import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import {
  applyCampaignInput,
  campaignCount,
  campaignInput,
  campaignProblems,
  defaultCampaign,
} from '../../src/domain/campaigns/campaign.ts'
import { verticalId, verticalProblem } from '../../src/domain/campaigns/vertical.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { prefixFor } from '../../src/domain/shared/names.ts'
import { problemsOf } from '../../src/domain/shared/problems.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Adds a campaign, always as a draft. */
export const createCampaign = defineCommand({
  name: 'create-campaign',
  entity: workspace,
  input: campaignInput.required({ name: true }).extend({ verticalId }),
  rejects: ['bad-request', 'workspace-not-found', 'plan-upgrade-required'],
  decide({ verticalId, ...input }, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const settings = applyCampaignInput(defaultCampaign(input.name, workspace.timezone), input)
    const problems = {
      ...problemsOf([['verticalId', verticalProblem(state, verticalId)]]),
      ...campaignProblems(settings, input),
    }
    if (Object.keys(problems).length > 0) return refuse('bad-request', problems)
    const over = planLimitExceeded(workspace.planId, 'maxTrackingCampaigns', campaignCount(state))
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
