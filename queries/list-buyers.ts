import { z } from 'zod'
import { buyers } from '../projections/buyers.ts'
import { callLog } from '../projections/call-log.ts'
import { targets } from '../projections/targets.ts'
import { usage } from '../projections/usage.ts'
import { buyerStatus } from '../src/domain/buyer.ts'
import { SEARCH_LENGTH } from '../src/domain/limits.ts'
import { defineQuery } from '../src/kernel/query.ts'
import { pageOf } from '../src/kernel/wire.ts'
import type { QueryPorts } from '../src/ports/query-ports.ts'
import { buyerRow, buyerRows } from './buyer-shape.ts'
import { readPage } from './documents.ts'
import { listed, listQuery, RECORD_ORDERS, searching, windowOf, withStatus } from './listing.ts'

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
    q: z.string().max(SEARCH_LENGTH).optional(),
    status: buyerStatus.optional(),
    ...listQuery(RECORD_ORDERS),
  }),
  response: pageOf(buyerRow),
  reads: [buyers, targets, usage, callLog],
  steady: true,
  async run({ views }: QueryPorts, { query, ...asked }) {
    const { workspaceId } = asked.tenant
    const search = searching(query.q, ['name', 'company', 'contactName', 'externalRef'])
    const filter = { workspaceId, ...withStatus(query.status, 'archived'), ...search }
    const { docs, total } = await readPage(views, buyers, filter, windowOf(query))
    return listed(await buyerRows(views, asked, docs), query, total)
  },
})
