import { z } from 'zod'
import { leases } from '../../projections/insertion/leases.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { poolShape, poolShapes } from './pool-shape.ts'

/** A number pool. */
export const getPool = defineQuery({
  name: 'get-pool',
  summary: 'Read a number pool',
  mounts: [{ surface: 'console', path: '/api/tracking/pools/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ pool: poolShape }),
  reads: [pools, numbers, leases],
  rejects: ['pool-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, tenant: { workspaceId } }) {
    const doc = await readOne(views, pools, workspaceId, params.id)
    const [pool] = doc ? await poolShapes(views, workspaceId, [doc]) : []
    return pool ? { pool } : refuse('pool-not-found')
  },
})
