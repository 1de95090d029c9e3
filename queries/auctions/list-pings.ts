import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { PAGE, PING } from '../../src/domain/shared/limits.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf, pageQuery, skipOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readAll } from '../shared/documents.ts'
import { pageResponse } from '../shared/listing.ts'
import { inWindow, pingDirection, pingFilters, selectPings, windowOf } from './ping-filter.ts'
import { inboundRowOf, outboundRowOf, type PingRow, pingRow } from './ping-row.ts'

/** The ping ledger: a page of publishers' pings, or of requests to bidders, newest first. */
export const listPings = defineQuery({
  name: 'list-pings',
  summary: 'List pings',
  mounts: [
    { surface: 'rest', path: '/api/v1/pings', scope: 'pings:read' },
    { surface: 'console', path: '/api/tracking/pings' },
  ],
  params: z.object({}),
  query: z.object({ ...pingFilters, ...pageQuery({ defaultSize: PING.pageSize, maxSize: PAGE.max }) }),
  response: pageOf(pingRow).extend({ direction: pingDirection, from: instant, to: instant }),
  reads: [pingLedger, bidLedger],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const selection = await selectPings(views, { query, tenant, now })
    if (isRefusal(selection)) return selection
    const { direction, pageSize } = query
    const filter = { ...selection.filter, atMs: inWindow(selection) }
    const page = { filter, sort: { atMs: -1 }, skip: skipOf(query), limit: pageSize } as const
    const rows: readonly PingRow[] =
      direction === 'inbound'
        ? (await readAll(views, pingLedger, page)).map(inboundRowOf)
        : (await readAll(views, bidLedger, page)).map((doc) => outboundRowOf(doc, Date.parse(now)))
    // After the page, so that the total includes its rows.
    const total = await views.count(collectionOf(direction === 'inbound' ? pingLedger : bidLedger), filter)
    return { ...pageResponse([...rows], query, total), direction, ...windowOf(selection) }
  },
})
