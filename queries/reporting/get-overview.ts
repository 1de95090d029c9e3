import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { alert, alertsOf } from '../../src/domain/reporting/alerts.ts'
import { localMidnight } from '../../src/domain/shared/hours.ts'
import { OVERVIEW } from '../../src/domain/shared/limits.ts'
import { localDays } from '../../src/domain/shared/local-days.ts'
import { zoneOrUtc } from '../../src/domain/shared/zones.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { dayFigures, dayFiguresOf, topEarners } from '../calls/day-figures.ts'
import { countLive } from '../calls/live-figures.ts'
import { walletFigures } from '../money/wallet-figures.ts'
import { readMany } from '../shared/documents.ts'
import { ALERT_READS, readAlertFacts } from './alert-facts.ts'

const topRow = z
  .object({
    id,
    name: z.string(),
    calls: z.int(),
    converted: z.int(),
    revenueCents: z.int(),
    profitCents: z.int(),
  })
  .meta({ id: 'TopRow' })

/** The days of the overview, the earliest first: the last is today by the workspace's clock. */
function overviewDays(timezone: string, now: string) {
  const zone = zoneOrUtc(timezone)
  const nowMs = Date.parse(now)
  return localDays(zone, localMidnight(zone, nowMs, OVERVIEW.days - 1), nowMs + 1)
}

/** How the workspace stands, by its own clock (Supplement §10, Overview). */
export const getOverview = defineQuery({
  name: 'get-overview',
  summary: 'Read the overview',
  mounts: [{ surface: 'console', path: '/api/tracking/overview' }],
  params: z.object({}),
  query: z.object({}),
  response: z.object({
    today: dayFigures,
    yesterday: dayFigures,
    last7: z.array(dayFigures),
    live: z.int(),
    wallet: z.object({ balanceCents: z.int(), reservedCents: z.int() }),
    alerts: z.array(alert).readonly(),
    topCampaigns: z.array(topRow),
    topBuyers: z.array(topRow),
  }),
  reads: [callLog, wallets, capCounters, ...ALERT_READS],
  cacheable: true,
  async run({ views }: QueryPorts, { tenant, now }) {
    const { workspaceId } = tenant
    const days = overviewDays(tenant.timezone, now)
    const week = { fromMs: days[0]?.fromMs ?? 0, toMs: days.at(-1)?.toMs ?? 0 }
    const named = async (
      kind: 'campaign' | 'buyer',
      read: (ids: readonly string[]) => Promise<ReadonlyMap<string, { readonly name: string }>>,
    ) => {
      const rows = await topEarners(views, workspaceId, kind, week, OVERVIEW.top)
      const found = await read(rows.map((row) => row.id))
      return rows.map(({ id, ...figures }) => ({ id, name: found.get(id)?.name ?? '', ...figures }))
    }
    const [sums, live, wallet, facts, topCampaigns, topBuyers] = await Promise.all([
      dayFiguresOf(views, workspaceId, days),
      countLive(views, workspaceId, now),
      walletFigures(views, workspaceId),
      readAlertFacts(views, { tenant, now }),
      named('campaign', (ids) => readMany(views, campaigns, ids)),
      named('buyer', (ids) => readMany(views, buyers, ids)),
    ])
    const last7 = sums.map(({ day }) => day)
    const [yesterday, today] = last7.slice(-2)
    if (!today || !yesterday) throw new Error('A week has days.')
    const weekUsageCents = sums.reduce((sum, { usageCents }) => sum + usageCents, 0)
    const alerts = alertsOf({ ...facts, ...wallet, weekUsageCents })
    return { today, yesterday, last7, live, wallet, alerts, topCampaigns, topBuyers }
  },
})
