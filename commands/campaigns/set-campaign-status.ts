import { z } from 'zod'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { campaignCount, campaignStatus } from '../../src/domain/campaigns/campaign.ts'
import { refuseCampaignTransition } from '../../src/domain/campaigns/campaign-transitions.ts'
import { checklistOf, launchFacts } from '../../src/domain/configuration/checklist.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Launches, pauses, resumes, archives or restores a campaign, as its mover may. Going live takes the whole checklist. */
export const setCampaignStatus = defineCommand({
  name: 'set-campaign-status',
  entity: workspace,
  input: z.object({
    campaignId: id,
    status: campaignStatus.exclude(['restricted']),
    note: statusNote.nullish(),
    mover: z.enum(['console', 'key']).default('console'),
  }),
  reads: { wallet },
  rejects: ['campaign-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ campaignId, status: to, note, mover }, state, { reads }) {
    const campaign = state.campaigns.get(campaignId)
    if (!state.workspace || !campaign) return refuseNotFound('campaign')
    const { name, status: from } = campaign
    const refused = refuseCampaignTransition(campaign, to, mover)
    if (refused) return refused
    if (from === to) return []
    const { blockers } = checklistOf(launchFacts(state, campaignId, reads.wallet.balanceCents))
    if (to === 'live' && blockers.length > 0) return refuse('conflict', { blockers }, blockers.join(' '))
    const numbers = [...state.numbers.filter((number) => number.campaignId === campaignId).values()]
    if (to === 'archived' && numbers.length > 0)
      return refuse('conflict', { numbers: numbers.map(({ e164 }) => e164) }, 'Numbers still point at the campaign.')
    const held = campaignCount(state)
    const over = from === 'archived' ? planLimitExceeded(state.workspace.planId, 'maxTrackingCampaigns', held) : null
    if (over) return over
    return [{ type: 'CampaignStatusChanged', data: { campaignId, name, from, to, note: note ?? null } }]
  },
})
