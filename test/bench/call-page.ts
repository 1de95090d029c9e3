import { callLog } from '../../projections/calls/call-log.ts'
import { callRows } from '../../queries/calls/call-page.ts'
import { callRow, callRowOf } from '../../queries/calls/call-row.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import { selectCalls } from '../../queries/shared/call-filter.ts'
import { readRows } from '../../queries/shared/documents.ts'
import { atCursor, pageOptions, pageResponse } from '../../queries/shared/listing.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'

const ROWS = callRows(callRowOf)

/** The call list without its figures: the same filter, page and rows. Its total is that of the page. */
export const callPage = defineQuery({
  name: 'call-page',
  summary: 'List calls without their figures',
  mounts: [{ surface: 'rest', path: '/api/v1/call-page', scope: 'calls:read' }],
  params: listCalls.params,
  query: listCalls.query,
  response: pageOf(callRow),
  reads: [callLog],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const requests = selectCalls({ query, tenant, now })
    if (isRefusal(requests)) return requests
    const asked = atCursor(query)
    const page = pageOptions({ ...asked, sort: 'startedMs' })
    const { rows, next } = await readRows(views, callLog, requests.filter, page, ROWS)
    return pageResponse(rows, asked, { total: rows.length, next })
  },
})
