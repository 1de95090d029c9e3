import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { callFilters, selectCalls } from '../shared/call-filter.ts'
import { atCursor, listQuery, pageResponse } from '../shared/listing.ts'
import { callRows, readCallPage } from './call-page.ts'
import { callRow, callRowOf } from './call-row.ts'
import { callStats } from './call-stats.ts'

/** Sort fields of the document, other than the start; `billedCents` is the revenue. */
const FIELDS: Readonly<Record<string, string>> = { talkSeconds: 'talkSeconds', billedCents: 'revenueCents' }

const ROWS = callRows(callRowOf)

/** The call log: a page of calls, and the figures of all that pass the filters. */
export const listCalls = defineQuery({
  name: 'list-calls',
  summary: 'List calls',
  mounts: [
    { surface: 'rest', path: '/api/v1/calls', scope: 'calls:read' },
    { surface: 'console', path: '/api/tracking/calls' },
  ],
  params: z.object({}),
  query: z.object({ ...callFilters, ...listQuery('calls', ['startedAt', 'talkSeconds', 'billedCents']) }),
  response: pageOf(callRow).extend({ stats: callStats, from: instant, to: instant, timezone: z.string() }),
  reads: [callLog],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const selection = selectCalls({ query, tenant, now })
    if (isRefusal(selection)) return selection
    const { filter, ...window } = selection
    const asked = atCursor(query)
    const sort = FIELDS[asked.sort] ?? 'startedMs'
    const { rows, next, stats } = await readCallPage(views, filter, { ...asked, sort }, ROWS)
    const page = pageResponse(rows, asked, { total: stats.count, next })
    return { ...page, stats, ...window }
  },
})
