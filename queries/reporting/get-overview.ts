import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { alert, alertsOf } from '../../src/domain/reporting/alerts.ts'
import { localMidnight } from '../../src/domain/shared/hours.ts'
import { OVERVIEW } from '../../src/domain/shared/limits.ts'
import { localDays } from '../../src/domain/shared/local-days.ts'
import { zoneOrUtc } from '../../src/domain/shared/zones.ts'
import { defineQuery, type Tenant } from '../../src/kernel/query.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { dayFigures, type EarnerFigures, readDays } from '../calls/day-figures.ts'
import { countLive } from '../calls/live-figures.ts'
import { walletFigures } from '../money/wallet-figures.ts'
import { readReferenced } from '../shared/documents.ts'
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

/** Top rows, with the names that their records have now. */
const named =
  (names: ReadonlyMap<string, { readonly name: string }>) =>
  ({ id, ...figures }: EarnerFigures) => ({ id, name: names.get(id)?.name ?? '', ...figures })

/** The days, and the top rows of all of them. */
async function readWeek(views: ReadStore, { workspaceId, timezone }: Tenant, now: string) {
  const { days, usageCents, ...top } = await readDays(views, workspaceId, overviewDays(timezone, now), OVERVIEW.top)
  const [ofCampaigns, ofBuyers] = await Promise.all([
    readReferenced(views, campaigns, top.campaigns, ({ id }) => id),
    readReferenced(views, buyers, top.buyers, ({ id }) => id),
  ])
  const [yesterday, today] = days.slice(-2)
  if (!today || !yesterday) throw new Error('A week has days.')
  const topRows = { topCampaigns: top.campaigns.map(named(ofCampaigns)), topBuyers: top.buyers.map(named(ofBuyers)) }
  return { usageCents, shown: { today, yesterday, last7: days }, topRows }
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
  reads: [callLog, wallets, ...ALERT_READS],
  cacheable: true,
  async run({ views }: QueryPorts, { tenant, now }) {
    const { workspaceId } = tenant
    const [week, live, wallet, facts] = await Promise.all([
      readWeek(views, tenant, now),
      countLive(views, workspaceId, now),
      walletFigures(views, workspaceId),
      readAlertFacts(views, { tenant, now }),
    ])
    const alerts = alertsOf({ ...facts, ...wallet, weekUsageCents: week.usageCents })
    return { ...week.shown, live, wallet, alerts, ...week.topRows }
  },
})
