import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { buyerRow, buyerRows } from './buyer-shape.ts'

/** A buyer in the form of a list: the response of its writes. */
export const getBuyerRow = defineQuery({
  name: 'get-buyer-row',
  summary: 'Read a buyer with the count of its targets',
  mounts: [],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ buyer: buyerRow }),
  reads: [buyers, targets, capCounters, callLog],
  rejects: ['buyer-not-found'],
  record: ({ id }) => id,
  async run({ views }: QueryPorts, { params, ...request }) {
    const doc = await readOne(views, buyers, request.tenant.workspaceId, params.id)
    const [buyer] = doc ? await buyerRows(views, request, [doc]) : []
    return buyer ? { buyer } : refuse('buyer-not-found')
  },
})
