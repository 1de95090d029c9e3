import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { numberShape, numberShapes } from './number-shape.ts'

/** A single number, with `calls30d` 0 (Document 1, Tracking number). */
export const getNumber = defineQuery({
  name: 'get-number',
  summary: 'Read a number',
  mounts: [
    { surface: 'rest', path: '/api/v1/numbers/:id', scope: 'numbers:read' },
    { surface: 'console', path: '/api/tracking/numbers/:id' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ number: numberShape }),
  reads: [numbers, campaigns, publishers, pools, callLog],
  rejects: ['number-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, ...request }) {
    const doc = await readOne(views, numbers, request.tenant.workspaceId, params.id)
    const [number] = doc ? await numberShapes(views, request, [doc]) : []
    return number ? { number: { ...number, calls30d: 0 } } : refuse('number-not-found')
  },
})
