import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { storedTag } from '../../src/domain/calls/tags.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { callFilters, selectCalls } from '../shared/call-filter.ts'
import { atCursor, listQuery, pageResponse } from '../shared/listing.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { callRows, readCallPage } from './call-page.ts'
import { callStats } from './call-stats.ts'
import { portalCallRow, portalCallRowOf } from './portal-call-row.ts'

const { from, to, tz, campaignId, numberId, ref, status, outcome, minTalk, maxTalk, tagKey, tagValue } = callFilters

/**
 * The filters of the call log that ask about nothing but what the rows show. Any other would be a way to find out what they
 * hide: a caller's number digit by digit, an unfunded wallet by its reason code, a tag of the workspace by its value.
 */
const portalCallFilters = {
  from,
  to,
  tz,
  campaignId,
  numberId,
  ref,
  status,
  outcome,
  minTalk,
  maxTalk,
  caller: z
    .string()
    .regex(/^\d{4}$/, { error: 'must be the last four digits of the number' })
    .optional(),
  tagKey,
  tagValue,
}

const portalCallStats = callStats
  .omit({ revenueCents: true, profitCents: true, usageCents: true })
  .meta({ id: 'PortalCallStats' })

const ROWS = callRows(portalCallRowOf)

/** The calls of a publisher: a page of them, and the figures of all that pass the filters. */
export const listPortalCalls = defineQuery({
  name: 'list-portal-calls',
  summary: "List the publisher's calls",
  mounts: [{ surface: 'portal', path: '/api/portal/calls' }],
  params: z.object({}),
  query: z.object({ ...portalCallFilters, ...listQuery('portal-calls', ['startedAt', 'talkSeconds', 'payoutCents']) }),
  response: pageOf(portalCallRow).extend({ stats: portalCallStats, from: instant, to: instant, timezone: z.string() }),
  reads: [callLog],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const publisherId = portalPublisher(tenant)
    const selection = selectCalls({ query: { ...query, publisherId }, tenant, now })
    if (isRefusal(selection)) return selection
    const { filter: selected, ...window } = selection
    const filter =
      query.tagKey === undefined
        ? selected
        : { ...selected, [`tagSources.${storedTag(query.tagKey)}`]: 'publisher' as const }
    const asked = atCursor(query)
    const sort = asked.sort === 'startedAt' ? 'startedMs' : asked.sort
    const { rows, next, stats } = await readCallPage(views, filter, { ...asked, sort }, ROWS)
    const { revenueCents: _revenue, profitCents: _profit, usageCents: _usage, ...shown } = stats
    const page = pageResponse(rows, asked, { total: stats.count, next })
    return { ...page, stats: shown, ...window }
  },
})
