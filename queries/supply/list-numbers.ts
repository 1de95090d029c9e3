import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { numberStatus } from '../../src/domain/supply/number.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, pageOf, queryBoolean } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter } from '../../src/ports/read-store.ts'
import { listQuery, readListPage, statusFilter } from '../shared/listing.ts'
import { numberFilter } from '../shared/number-search.ts'
import { numberShape, numberShapes } from './number-shape.ts'

/** Numbers of a campaign, which overrides `assigned`; else numbers with or without a campaign. */
function campaignFilter(campaignId: string | undefined, assigned: boolean | undefined): Filter {
  if (campaignId) return { campaignId }
  return assigned === undefined ? {} : { campaignId: assigned ? { $ne: null } : null }
}

/** All numbers of the workspace, with attribution and activity. */
export const listNumbers = defineQuery({
  name: 'list-numbers',
  summary: 'List numbers',
  mounts: [
    { surface: 'rest', path: '/api/v1/numbers', scope: 'numbers:read' },
    { surface: 'console', path: '/api/tracking/numbers' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.number).optional(),
    status: numberStatus.optional(),
    campaignId: id.optional(),
    publisherId: id.optional(),
    poolId: id.optional(),
    assigned: queryBoolean.optional(),
    ...listQuery('numbers', ['createdAt', 'e164', 'status', 'purchasedAt']),
  }),
  response: pageOf(numberShape),
  reads: [numbers, campaigns, publishers, pools, callLog],
  cacheable: true,
  async run({ views }: QueryPorts, { query, ...request }) {
    const { publisherId, poolId } = query
    const filter = {
      workspaceId: request.tenant.workspaceId,
      ...statusFilter(query.status, 'released'),
      ...numberFilter(query.q),
      ...campaignFilter(query.campaignId, query.assigned),
      ...(publisherId && { publisherId }),
      ...(poolId && { poolId }),
    }
    const { docs, respond } = await readListPage(views, numbers, filter, query)
    return respond(await numberShapes(views, request, docs))
  },
})
