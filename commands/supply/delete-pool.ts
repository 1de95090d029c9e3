import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { missing } from '../../src/domain/shared/refusals.ts'
import { namesFor, numbersIn, reattributed } from '../../src/domain/supply/pool.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes a pool. Its numbers are free of it, and stay with their campaign and publisher. */
export const deletePool = defineCommand({
  name: 'delete-pool',
  entity: workspace,
  input: z.object({ poolId: id }),
  rejects: ['pool-not-found'],
  decide({ poolId }, state) {
    const pool = state.pools.get(poolId)
    if (!pool) return missing('pool')
    const numbersFreed = numbersIn(state, poolId).length
    return [
      ...reattributed(state, pool, { poolId: null }, namesFor(state, pool)),
      { type: 'PoolDeleted', data: { poolId, name: pool.name, numbersFreed } },
    ]
  },
})
