import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DEFAULT_ROUTE, type RouteSettings, routeSettings } from '../../src/domain/campaigns/route.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { refuseArchived, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Adds a target to a campaign's routing plan, or changes its route. */
export const setRoute = defineCommand({
  name: 'set-route',
  entity: workspace,
  input: z.object({ campaignId: id, targetId: id, settings: routeSettings.partial() }),
  rejects: ['campaign-not-found', 'target-not-found', 'conflict'],
  decide({ campaignId, targetId, settings }, { campaigns, targets, routes }, { now, newId }) {
    const campaign = campaigns.get(campaignId)
    if (!campaign) return refuseNotFound('campaign')
    const target = targets.get(targetId)
    if (!target) return refuseNotFound('target')
    if (campaign.status === 'archived') return refuseArchived('Campaign')
    if (target.status === 'archived') return refuseArchived('Target')
    const old = routes.get(campaignId)?.get(targetId)
    const route = applyPatch(old ?? { ...DEFAULT_ROUTE, id: newId(), campaignId, targetId, createdAt: now }, settings)
    if (old && isDeepStrictEqual(old, route)) return []
    const before: RouteSettings | null = old
      ? {
          priority: old.priority,
          weight: old.weight,
          active: old.active,
          revenueOverrideCents: old.revenueOverrideCents,
        }
      : null
    return [{ type: 'RouteSet', data: { route, before, campaignName: campaign.name, targetName: target.name } }]
  },
})
