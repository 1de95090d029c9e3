import { applyPatch } from '../../src/domain/shared/patch.ts'
import { pool, poolEvents } from '../../src/domain/supply/pool.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Number pools, by id; by public key across workspaces, for the pages that name one. */
export const pools = defineProjection({
  name: 'pools',
  version: 1,
  events: poolEvents,
  doc: pool.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, createdAt: -1 }, { workspaceId: 1, campaignId: 1 }, { publicKey: 1 }],
  key: (event) => (event.type === 'PoolCreated' ? event.data.pool.id : event.data.poolId),
  create: {
    PoolCreated(event) {
      const { id: _id, ...record } = event.data.pool
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    PoolChanged: (doc, { data, meta }) => applyPatch({ ...doc, updatedAt: meta.at }, data.after),
    PoolKeyRotated: (doc, { data, meta }) => ({ ...doc, publicKey: data.after, updatedAt: meta.at }),
    PoolFallbackLost: (doc, { meta }) => ({ ...doc, fallbackNumberId: null, updatedAt: meta.at }),
    PoolDeleted: () => null,
  },
})
