import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { LANE_READS } from './lane-shape.ts'
import { publisherShape, publisherShapes } from './publisher-shape.ts'

/** A publisher with its lanes, the oldest first. */
export const getPublisher = defineQuery({
  name: 'get-publisher',
  summary: 'Read a publisher',
  mounts: [
    { surface: 'rest', path: '/api/v1/publishers/:id', scope: 'publishers:read' },
    { surface: 'console', path: '/api/tracking/publishers/:id' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ publisher: publisherShape }),
  reads: [publishers, ...LANE_READS, callLog],
  rejects: ['publisher-not-found'],
  record: ({ id }) => id,
  flushesUsage: true,
  async run(ports: QueryPorts, { params, ...request }) {
    const doc = await readOne(ports.views, publishers, request.tenant.workspaceId, params.id)
    const [publisher] = doc ? await publisherShapes(ports, request, [doc]) : []
    return publisher ? { publisher } : refuse('publisher-not-found')
  },
})
