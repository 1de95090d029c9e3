import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { buyerStatus } from '../../src/domain/demand/buyer.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, RECORD_SORTS, readListPage, statusFilter, textFilter } from '../shared/listing.ts'
import { buyerRow, buyerRows } from './buyer-shape.ts'

/** Buyers, each with its target counts and today's figures. */
export const listBuyers = defineQuery({
  name: 'list-buyers',
  summary: 'List buyers',
  mounts: [
    { surface: 'rest', path: '/api/v1/buyers', scope: 'buyers:read' },
    { surface: 'console', path: '/api/tracking/buyers', scope: 'buyers:read' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    status: buyerStatus.optional(),
    ...listQuery('buyers', RECORD_SORTS),
  }),
  response: pageOf(buyerRow),
  reads: [buyers, targets, capCounters, callLog],
  cacheable: true,
  async run({ views }: QueryPorts, { query, ...request }) {
    const { workspaceId } = request.tenant
    const search = textFilter(query.q, ['name', 'company', 'contactName', 'externalRef'])
    const filter = { workspaceId, ...statusFilter(query.status, 'archived'), ...search }
    const { docs, respond } = await readListPage(views, buyers, filter, query)
    return respond(await buyerRows(views, request, docs))
  },
})
