import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { localDays } from '../../src/domain/shared/local-days.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf, skipOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { callFilters, selectCalls } from '../shared/call-filter.ts'
import { readReferenced } from '../shared/documents.ts'
import { cutPage, type ListPlace } from '../shared/list-cursor.ts'
import { atCursor, pageFields, pageResponse } from '../shared/listing.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { callStatsOf } from './call-stats.ts'

const { from, to, tz, campaignId } = callFilters

const figures = { calls: z.int(), connected: z.int(), converted: z.int(), payoutCents: z.int() }

/** What a publisher earned on one day of the calendar, on one campaign. */
const payoutRow = z.object({ date: z.iso.date(), campaign: named.nullable(), ...figures }).meta({ id: 'PortalPayout' })

const SUMMED = ['connectedCount', 'convertedCount', 'payoutCents'] as const

/** The newest day first, then by the name of the campaign; calls without a campaign before all others. */
function comparePlaces(one: ListPlace, other: ListPlace): number {
  const [date, name] = one.values
  const [otherDate, otherName] = other.values
  return (
    String(otherDate).localeCompare(String(date)) ||
    String(name).localeCompare(String(otherName)) ||
    one.id.localeCompare(other.id)
  )
}

/** The payouts of a publisher by day and campaign, the newest day first; days without calls have no row. */
export const listPortalPayouts = defineQuery({
  name: 'list-portal-payouts',
  summary: "List the publisher's payouts by day and campaign",
  mounts: [{ surface: 'portal', path: '/api/portal/payouts' }],
  params: z.object({}),
  query: z.object({ from, to, tz, campaignId, ...pageFields('portal-payouts') }),
  response: pageOf(payoutRow).extend({
    totals: z.object(figures),
    from: instant,
    to: instant,
    timezone: z.string(),
  }),
  reads: [callLog, campaigns],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const publisherId = portalPublisher(tenant)
    const selection = selectCalls({ query: { ...query, publisherId }, tenant, now })
    if (isRefusal(selection)) return selection
    const { filter, ...window } = selection
    const [fromMs, toMs] = [Date.parse(window.from), Date.parse(window.to)]
    const sums = await Promise.all(
      localDays(window.timezone, fromMs, toMs).map(async (day) => {
        const startedMs = { $gte: Math.max(day.fromMs, fromMs), $lt: Math.min(day.toMs, toMs) }
        const groups = await views.sum(collectionOf(callLog), { ...filter, startedMs }, ['campaign.id'], SUMMED)
        return groups.map(
          ({ key: [campaign = null], count: calls, sums: [connected = 0, converted = 0, cents = 0] }) => ({
            date: day.date,
            campaignId: campaign === null ? null : String(campaign),
            figures: { calls, connected, converted, payoutCents: cents },
          }),
        )
      }),
    )
    const totals = await callStatsOf(views, filter)
    const rows = sums.flat()
    const names = await readReferenced(views, campaigns, rows, (row) => row.campaignId)
    const nameOf = (id: string | null) => (id === null ? '' : (names.get(id)?.name ?? ''))
    const sorted = rows
      .map((row) => ({ ...row, place: { id: row.campaignId ?? '', values: [row.date, nameOf(row.campaignId)] } }))
      .toSorted((one, other) => comparePlaces(one.place, other.place))
    const asked = atCursor(query)
    const { after } = asked
    const found = after ? sorted.filter(({ place }) => comparePlaces(place, after) > 0) : sorted.slice(skipOf(asked))
    const { page, next } = cutPage(found, asked.pageSize, ({ place }) => place)
    const data = page.map(({ date, campaignId: id, figures }) => ({
      date,
      campaign: id === null ? null : { id, name: nameOf(id) },
      ...figures,
    }))
    const { count: calls, connected, converted, payoutCents } = totals
    return {
      ...pageResponse(data, asked, { total: rows.length, next }),
      totals: { calls, connected, converted, payoutCents },
      ...window,
    }
  },
})
