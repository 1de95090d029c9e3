import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { laneId } from '../../src/domain/supply/lane.ts'
import {
  applyPoolInput,
  attributionEvents,
  fallbackConflict,
  type PoolSettings,
  poolChanges,
  poolEventNames,
} from '../../src/domain/supply/pool.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a pool. Its numbers take over its publisher. */
export const changePool = defineCommand({
  name: 'change-pool',
  entity: workspace,
  input: z.object({ poolId: id, changes: poolChanges }),
  rejects: [
    'bad-request',
    'pool-not-found',
    'publisher-not-found',
    'number-not-found',
    'conflict',
    'publisher-not-on-campaign',
  ],
  decide({ poolId, changes }, state) {
    const pool = state.pools.get(poolId)
    if (!pool) return refuseNotFound('pool')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const { publisherId, fallbackNumberId } = changes
    const publisher = publisherId ? state.publishers.get(publisherId) : null
    if (publisher === undefined) return refuseNotFound('publisher')
    const fallback = fallbackNumberId ? state.numbers.get(fallbackNumberId) : null
    if (fallback === undefined) return refuseNotFound('number')
    const difference = diff<PoolSettings>(pool, applyPoolInput(pool, changes))
    if (!difference) return []
    const { campaignId, name } = pool
    if (publisher && !state.lanes.has(laneId(campaignId, publisher.id)))
      return refuse('publisher-not-on-campaign', { publisherId: publisher.id, campaignId })
    const conflict = fallback && fallbackConflict(fallback, campaignId)
    if (conflict) return conflict
    const { publisherId: another } = difference.after
    const moved =
      another === undefined ? [] : attributionEvents(state, pool, { publisherId: another }, poolEventNames(state, pool))
    return [{ type: 'PoolChanged', data: { poolId, name, ...difference } }, ...moved]
  },
})
