import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { outboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { outboundRowOf } from './ping-row.ts'

/** A request to a bidder in the form of a list: the response of its writes. */
export const getBid = defineQuery({
  name: 'get-bid',
  summary: 'Read a request to a bidder',
  mounts: [],
  params: z.object({ bidId: id }),
  query: z.object({}),
  response: z.object({ ping: outboundPing }),
  reads: [bidLedger],
  rejects: ['ping-not-found'],
  async run({ views }: QueryPorts, { params, tenant: { workspaceId }, now }) {
    const bid = await readOne(views, bidLedger, workspaceId, params.bidId)
    return bid ? { ping: outboundRowOf(bid, Date.parse(now)) } : refuse('ping-not-found')
  },
})
