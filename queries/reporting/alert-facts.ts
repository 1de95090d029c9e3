import { workspaces } from '../../projections/access/workspaces.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import type { AlertFacts, CapUse } from '../../src/domain/reporting/alerts.ts'
import { ALERTS, OVERVIEW } from '../../src/domain/shared/limits.ts'
import { laneCounterId, reopenedKeyId } from '../../src/domain/supply/lane.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { failingTargets } from '../routing/health-figures.ts'
import { countersOf, laneUsageOf, usageOf } from '../routing/usage-figures.ts'
import { countBy, readAll, readMany, readReferenced } from '../shared/documents.ts'

type Question = Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>
type CapField = 'hourlyCap' | 'dailyCap' | 'monthlyCap' | 'totalCap' | 'dailyRevenueCapCents' | 'dailyPayoutCapCents'
type UsageField = 'hour' | 'day' | 'month' | 'total' | 'dayRevenueCents' | 'dayPayoutCents'

/** The caps of a window. Calls at once are left out: whether they are at their cap changes with every call. */
const CAPS: readonly { readonly field: CapField; readonly usage: UsageField; readonly cap: string }[] = [
  { field: 'hourlyCap', usage: 'hour', cap: 'hourly cap' },
  { field: 'dailyCap', usage: 'day', cap: 'daily cap' },
  { field: 'monthlyCap', usage: 'month', cap: 'monthly cap' },
  { field: 'totalCap', usage: 'total', cap: 'lifetime cap' },
  { field: 'dailyRevenueCapCents', usage: 'dayRevenueCents', cap: 'daily revenue cap' },
  { field: 'dailyPayoutCapCents', usage: 'dayPayoutCents', cap: 'daily payout cap' },
]

type Capped = Readonly<Partial<Record<CapField, number>>>
type Used = Readonly<Partial<Record<UsageField, number>>>

/** The caps of a record that are set, each with what is used of it. */
function capUses(record: Capped, used: Used, shown: Pick<CapUse, 'kind' | 'name' | 'to'>): readonly CapUse[] {
  return CAPS.flatMap(({ field, usage, cap }) => {
    const limit = record[field] ?? 0
    if (limit === 0) return []
    return [{ ...shown, cap, limit, used: used[usage] ?? 0, isMoney: field.endsWith('Cents') }]
  })
}

const hasCap = (record: Capped) => CAPS.some(({ field }) => (record[field] ?? 0) > 0)

/** The newest records of a kind that take calls. */
const inUse = { sort: { createdAt: -1 }, limit: OVERVIEW.records } as const

type CappedRecord = Capped & { readonly id: string; readonly name: string }
type Counters = Awaited<ReturnType<typeof countersOf>>

/** The cap uses of targets, buyers or campaigns. */
function recordCaps(
  kind: 'target' | 'buyer' | 'campaign',
  docs: readonly CappedRecord[],
  counters: Counters,
  now: string,
): readonly CapUse[] {
  return docs.flatMap((record) =>
    capUses(record, usageOf(counters, record.id, now), { kind, name: record.name, to: `/${kind}s/${record.id}` }),
  )
}

/** The cap uses of the buyers, or of the campaigns, that take calls. */
async function capsInUse(
  views: ReadStore,
  kind: 'buyer' | 'campaign',
  docs: Promise<readonly CappedRecord[]>,
  now: string,
) {
  const capped = (await docs).filter(hasCap)
  const ids = capped.map(({ id }) => id)
  return recordCaps(kind, capped, await countersOf(views, kind, ids), now)
}

/** The active targets: those whose last dials failed, which their counters have an index for, and the uses of their caps. */
async function targetFacts(views: ReadStore, { tenant: { workspaceId }, now }: Question) {
  const [docs, failed] = await Promise.all([
    readAll(views, targets, { filter: { workspaceId, status: 'active' }, ...inUse }),
    failingTargets(views, workspaceId, now),
  ])
  const capped = docs.filter(hasCap)
  const ids = capped.map(({ id }) => id)
  const failing = docs.flatMap(({ id, name }) => {
    const found = failed.get(id)
    return found ? [{ id, name, ...found }] : []
  })
  return { failing, caps: recordCaps('target', capped, await countersOf(views, 'target', ids), now) }
}

async function laneCaps(views: ReadStore, { tenant: { workspaceId }, now }: Question) {
  const docs = await readAll(views, lanes, {
    filter: { workspaceId },
    sort: { assignedAt: -1 },
    limit: OVERVIEW.records,
  })
  const capped = docs.filter((lane) => lane.active && hasCap(lane))
  if (capped.length === 0) return []
  const counterId = (lane: (typeof capped)[number]) =>
    laneCounterId(lane.campaignId, lane.publisherId, reopenedKeyId(lane))
  const [counters, owners, named] = await Promise.all([
    countersOf(views, 'lane', capped.map(counterId)),
    readReferenced(views, publishers, capped, ({ publisherId }) => publisherId),
    readReferenced(views, campaigns, capped, ({ campaignId }) => campaignId),
  ])
  return capped.flatMap((lane) =>
    capUses(lane, laneUsageOf(counters, counterId(lane), now), {
      kind: 'lane',
      name: `of ${owners.get(lane.publisherId)?.name ?? ''} on ${named.get(lane.campaignId)?.name ?? ''}`,
      to: `/campaigns/${lane.campaignId}/publishers`,
    }),
  )
}

/** Numbers by the status of their rent, and those on a campaign that the carrier does not deliver. */
async function numberCounts(views: ReadStore, workspaceId: string) {
  const [ofStatus, failed] = await Promise.all([
    countBy(views, numbers, { workspaceId, status: { $in: ['past_due', 'suspended'] } }, 'status'),
    views.count(collectionOf(numbers), {
      workspaceId,
      webhookStatus: 'failed',
      campaignId: { $ne: null },
      status: { $ne: 'released' },
    }),
  ])
  return { pastDue: ofStatus('past_due'), suspended: ofStatus('suspended'), undelivered: failed }
}

/** The projections that the alerts are read from, apart from the wallet. */
export const ALERT_READS = [workspaces, campaigns, webhooks, buyers, targets, lanes, numbers, publishers]

/** What the alerts of a workspace are judged by, apart from its wallet. */
export async function readAlertFacts(
  views: ReadStore,
  question: Question,
): Promise<Omit<AlertFacts, 'balanceCents' | 'reservedCents' | 'weekUsageCents'>> {
  const { tenant, now } = question
  const { workspaceId } = tenant
  const few = { sort: { createdAt: -1 }, limit: ALERTS.max } as const
  const [found, restrictedCampaigns, degradedWebhooks, counts, { failing, caps }, ...others] = await Promise.all([
    readMany(views, workspaces, [workspaceId]),
    readAll(views, campaigns, { filter: { workspaceId, status: 'restricted' }, ...few }),
    readAll(views, webhooks, { filter: { workspaceId, status: 'degraded' }, ...few }),
    numberCounts(views, workspaceId),
    targetFacts(views, question),
    capsInUse(views, 'buyer', readAll(views, buyers, { filter: { workspaceId, status: 'active' }, ...inUse }), now),
    capsInUse(views, 'campaign', readAll(views, campaigns, { filter: { workspaceId, status: 'live' }, ...inUse }), now),
    laneCaps(views, question),
  ])
  return {
    subscriptionStatus: found.get(workspaceId)?.subscriptionStatus ?? 'active',
    restrictedCampaigns,
    numbers: counts,
    targets: failing,
    degradedWebhooks: degradedWebhooks.map(({ id, name }) => ({ id, name: name ?? id })),
    caps: [...caps, ...others.flat()],
  }
}
