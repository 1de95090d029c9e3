import { z } from 'zod'
import { leases } from '../../projections/insertion/leases.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { pool } from '../../src/domain/supply/pool.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, RECORD_SORTS, readListPage, textFilter } from '../shared/listing.ts'
import { poolShape, poolShapes } from './pool-shape.ts'

/** Number pools. */
export const listPools = defineQuery({
  name: 'list-pools',
  summary: 'List number pools',
  mounts: [{ surface: 'console', path: '/api/tracking/pools' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    status: pool.shape.status.optional(),
    campaignId: id.optional(),
    publisherId: id.optional(),
    ...listQuery('pools', RECORD_SORTS),
  }),
  response: pageOf(poolShape),
  reads: [pools, numbers, leases],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const { status, campaignId, publisherId } = query
    const filter = {
      workspaceId,
      ...(status && { status }),
      ...(campaignId && { campaignId }),
      ...(publisherId && { publisherId }),
      ...textFilter(query.q, ['name', 'publicKey']),
    }
    const { docs, respond } = await readListPage(views, pools, filter, query)
    return respond(await poolShapes(views, workspaceId, docs))
  },
})
