import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { poolKey } from '../../src/domain/supply/pool.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Gives a pool a new public key. Pages with the old one no longer find the pool. */
export const rotatePoolKey = defineCommand({
  name: 'rotate-pool-key',
  entity: workspace,
  input: z.object({ poolId: id, publicKey: poolKey }),
  rejects: ['pool-not-found'],
  decide({ poolId, publicKey: after }, { pools }) {
    const pool = pools.get(poolId)
    if (!pool) return refuseNotFound('pool')
    const { name, publicKey: before } = pool
    return before === after ? [] : [{ type: 'PoolKeyRotated', data: { poolId, name, before, after } }]
  },
})
