import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { attributionEvents, numbersInPool, poolEventNames } from '../../src/domain/supply/pool.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Deletes a pool. Its numbers leave it and stay with their campaign and publisher. */
export const deletePool = defineCommand({
  name: 'delete-pool',
  entity: workspace,
  input: z.object({ poolId: id }),
  rejects: ['pool-not-found'],
  decide({ poolId }, state) {
    const pool = state.pools.get(poolId)
    if (!pool) return refuseNotFound('pool')
    const numbersFreed = numbersInPool(state, poolId).length
    return [
      ...attributionEvents(state, pool, { poolId: null }, poolEventNames(state, pool)),
      { type: 'PoolDeleted', data: { poolId, name: pool.name, numbersFreed } },
    ]
  },
})
