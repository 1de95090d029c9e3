import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseArchived, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { laneId } from '../../src/domain/supply/lane.ts'
import { applyPoolInput, defaultPool, fallbackConflict, newPool, poolKey } from '../../src/domain/supply/pool.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Adds an empty number pool to a campaign; pages use it by its `publicKey`. */
export const createPool = defineCommand({
  name: 'create-pool',
  entity: workspace,
  input: z.object({
    campaignId: id,
    publicKey: poolKey,
    settings: newPool,
  }),
  rejects: ['campaign-not-found', 'publisher-not-found', 'number-not-found', 'conflict', 'publisher-not-on-campaign'],
  decide({ campaignId, publicKey, settings: input }, state, { now, newId }) {
    const settings = applyPoolInput(defaultPool(input.name), input)
    const campaign = state.campaigns.get(campaignId)
    if (!campaign) return refuseNotFound('campaign')
    const publisher = settings.publisherId === null ? null : state.publishers.get(settings.publisherId)
    if (publisher === undefined) return refuseNotFound('publisher')
    const fallback = settings.fallbackNumberId === null ? null : state.numbers.get(settings.fallbackNumberId)
    if (fallback === undefined) return refuseNotFound('number')
    if (campaign.status === 'archived') return refuseArchived('Campaign')
    if (publisher && !state.lanes.has(laneId(campaignId, publisher.id)))
      return refuse('publisher-not-on-campaign', { publisherId: publisher.id, campaignId })
    const conflict = fallback && fallbackConflict(fallback, campaignId)
    if (conflict) return conflict
    const pool = { ...settings, id: newId(), campaignId, publicKey, createdAt: now, updatedAt: now }
    const names = { campaignName: campaign.name, publisherName: publisher?.name ?? null }
    return [{ type: 'PoolCreated', data: { pool, ...names } }]
  },
})
