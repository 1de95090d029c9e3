import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { publisherStatus } from '../../src/domain/supply/publisher.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, RECORD_SORTS, readListPage, statusFilter, textFilter } from '../shared/listing.ts'
import { LANE_READS } from './lane-shape.ts'
import { publisherShape, publisherShapes } from './publisher-shape.ts'

/** Publishers, each with its lanes. */
export const listPublishers = defineQuery({
  name: 'list-publishers',
  summary: 'List publishers',
  mounts: [
    { surface: 'rest', path: '/api/v1/publishers', scope: 'publishers:read' },
    { surface: 'console', path: '/api/tracking/publishers' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    status: publisherStatus.optional(),
    ...listQuery('publishers', RECORD_SORTS),
  }),
  response: pageOf(publisherShape),
  reads: [publishers, ...LANE_READS, callLog],
  flushesUsage: true,
  async run(ports: QueryPorts, { query, ...request }) {
    const { workspaceId } = request.tenant
    const search = textFilter(query.q, ['name', 'routingPrefix', 'contactName'])
    const filter = { workspaceId, ...statusFilter(query.status, 'terminated'), ...search }
    const { docs, respond } = await readListPage(ports.views, publishers, filter, query)
    return respond(await publisherShapes(ports, request, docs))
  },
})
