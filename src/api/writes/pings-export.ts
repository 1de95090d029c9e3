import { z } from 'zod'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../../projections/auctions/ping-ledger.ts'
import { inWindow, pingFilters, selectPings, windowOf } from '../../../queries/auctions/ping-filter.ts'
import {
  inboundBatches,
  inboundColumns,
  outboundBatches,
  outboundColumns,
} from '../../../queries/auctions/pings-export.ts'
import { csvHeader } from '../../domain/shared/csv.ts'
import { EXPORT } from '../../domain/shared/limits.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineFile, linesOf, requestRecordOf } from './exports.ts'
import type { Write } from './write-route.ts'

/** The ping ledger as a file: publishers' pings, or requests to bidders (Document 2, export). */
export const exportPings: Write = defineFile({
  name: 'export-pings',
  summary: 'Export the ping ledger',
  kind: 'pings',
  mounts: [{ surface: 'console', path: '/api/tracking/pings/export.csv' }],
  query: z.object(pingFilters),
  reads: [pingLedger, bidLedger],
  rejects: ['bad-request'],
  async open({ filter: query, tenant, now, tools: { views } }) {
    const selection = await selectPings(views, { query, tenant, now })
    if (isRefusal(selection)) return selection
    const { direction } = query
    const collection = collectionOf(direction === 'inbound' ? pingLedger : bidLedger)
    const count = await views.count(collection, { ...selection.filter, atMs: inWindow(selection) })
    const file =
      direction === 'inbound'
        ? { head: csvHeader(inboundColumns), batches: linesOf(inboundColumns, inboundBatches(views, selection)) }
        : {
            head: csvHeader(outboundColumns),
            batches: linesOf(outboundColumns, outboundBatches(views, selection, Date.parse(now))),
          }
    return {
      ...file,
      fileName: `pings-${direction}`,
      filters: { ...requestRecordOf(query).filters, ...windowOf(selection) },
      rows: Math.min(count, EXPORT.pings),
    }
  },
})
