import { z } from 'zod'
import { poolEvents } from '../../src/domain/supply/pool.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { PoolCreated, PoolKeyRotated } = poolEvents

/**
 * Which pool a public key is of: a look-up across workspaces. It only says where to look: whether the key is still the pool's is decided
 * by the workspace's configuration.
 */
export const poolKeys = defineProjection({
  name: 'pool-keys',
  version: 1,
  events: { PoolCreated, PoolKeyRotated },
  doc: z.object({ workspaceId: id, poolId: id }),
  indexes: [{ workspaceId: 1 }],
  key: (event) => (event.type === 'PoolCreated' ? event.data.pool.publicKey : event.data.after),
  create: {
    PoolCreated: (event) => ({ workspaceId: workspaceIdOf(event), poolId: event.data.pool.id }),
    PoolKeyRotated: (event) => ({ workspaceId: workspaceIdOf(event), poolId: event.data.poolId }),
  },
})
