import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseArchived, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes a target from a campaign's routing plan. */
export const removeRoute = defineCommand({
  name: 'remove-route',
  entity: workspace,
  input: z.object({ campaignId: id, targetId: id }),
  rejects: ['route-not-found', 'conflict'],
  decide({ campaignId, targetId }, { campaigns, targets, routes }) {
    const route = routes.get(campaignId)?.get(targetId)
    const campaign = campaigns.get(campaignId)
    const target = targets.get(targetId)
    if (!route || !campaign || !target) return refuseNotFound('route')
    if (campaign.status === 'archived') return refuseArchived('Campaign')
    const names = { campaignName: campaign.name, targetName: target.name }
    return [{ type: 'RouteRemoved', data: { routeId: route.id, campaignId, targetId, ...names } }]
  },
})
