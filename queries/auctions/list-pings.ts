import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { atCursor, pageFields, pageResponse } from '../shared/listing.ts'
import { ledgerPage, pingRows, readBidPage, readPingRows } from './ledger-page.ts'
import { pingDirection, pingFilters, selectPings, windowOf } from './ping-filter.ts'
import { inboundRowOf, outboundRowOf, type PingRow, pingRow } from './ping-row.ts'

const INBOUND = pingRows<PingRow>(inboundRowOf)

/** The ping ledger: a page of publishers' pings, or of requests to bidders, newest first. */
export const listPings = defineQuery({
  name: 'list-pings',
  summary: 'List pings',
  mounts: [
    { surface: 'rest', path: '/api/v1/pings', scope: 'pings:read' },
    { surface: 'console', path: '/api/tracking/pings' },
  ],
  params: z.object({}),
  query: z.object({
    ...pingFilters,
    ...pageFields('pings', PING.pageSize),
  }),
  response: pageOf(pingRow).extend({ direction: pingDirection, from: instant, to: instant }),
  reads: [pingLedger, bidLedger],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const selection = await selectPings(views, { query, tenant, now })
    if (isRefusal(selection)) return selection
    const { direction } = query
    const asked = atCursor(query)
    const page = ledgerPage(selection, asked)
    const window = { direction, ...windowOf(selection) }
    if (direction === 'inbound') {
      const { rows, ...rest } = await readPingRows(views, page, INBOUND)
      return { ...pageResponse(rows, asked, rest), ...window }
    }
    const { docs, ...rest } = await readBidPage(views, page)
    const rows = docs.map((doc) => outboundRowOf(doc, Date.parse(now)))
    return { ...pageResponse<PingRow>(rows, asked, rest), ...window }
  },
})
