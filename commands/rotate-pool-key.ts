import { z } from 'zod'
import { poolKey } from '../src/domain/pool.ts'
import { missing } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id } from '../src/kernel/wire.ts'

/** Gives a pool another public key; pages that name the old one are answered by no pool from then on. */
export const rotatePoolKey = defineCommand({
  name: 'rotate-pool-key',
  entity: workspace,
  input: z.object({ poolId: id, publicKey: poolKey }),
  rejects: ['pool-not-found'],
  decide({ poolId, publicKey: after }, { pools }) {
    const pool = pools.get(poolId)
    if (!pool) return missing('pool')
    const { name, publicKey: before } = pool
    return before === after ? [] : [{ type: 'PoolKeyRotated', data: { poolId, name, before, after } }]
  },
})
