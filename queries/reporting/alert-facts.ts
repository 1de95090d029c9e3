import { workspaces } from '../../projections/access/workspaces.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import type { AlertFacts, CapUse } from '../../src/domain/reporting/alerts.ts'
import { counterKey } from '../../src/domain/routing/counters.ts'
import { ALERTS, OVERVIEW } from '../../src/domain/shared/limits.ts'
import { laneCounterId, reopenedKeyId } from '../../src/domain/supply/lane.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { healthOf, laneUsageOf, usageOf } from '../routing/usage-figures.ts'
import { countBy, type DocOf, readAll, readMany, readReferenced } from '../shared/documents.ts'

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

/** The counters of records of one kind, by the record's id. */
type Counters = ReadonlyMap<string, WithId<DocOf<typeof capCounters>>>

/**
 * The counters of the workspace by kind. A record without any has no failed dials, and nothing is used of its caps: only records
 * with counters are looked at.
 */
async function readCounters(views: ReadStore, workspaceId: string) {
  const docs = await readAll(views, capCounters, { filter: { workspaceId }, limit: OVERVIEW.records })
  return (kind: CapUse['kind']): Counters =>
    new Map(docs.filter((doc) => doc.kind === kind).map((doc) => [doc.id.slice(counterKey(kind, '').length), doc]))
}

interface Counted {
  readonly now: string
  readonly counters: Counters
}

/** The cap uses of targets, buyers or campaigns. */
function recordCaps(
  kind: 'target' | 'buyer' | 'campaign',
  docs: readonly (Capped & { readonly id: string; readonly name: string })[],
  { counters, now }: Counted,
): readonly CapUse[] {
  return docs.flatMap((record) =>
    capUses(record, usageOf(counters, record.id, now), { kind, name: record.name, to: `/${kind}s/${record.id}` }),
  )
}

/** The counted targets that are active: those whose last dials failed, and the uses of their caps. */
async function targetFacts(views: ReadStore, counted: Counted) {
  const { counters, now } = counted
  const found = await readMany(views, targets, [...counters.keys()])
  const docs = [...found.values()].filter(({ status }) => status === 'active')
  const failing = docs.flatMap(({ id, name }) => {
    const { health, suppressedUntil } = healthOf(counters, id, now)
    return health === 'degraded' || health === 'down'
      ? [{ id, name, health, suppressed: suppressedUntil !== null }]
      : []
  })
  return { failing, caps: recordCaps('target', docs, counted) }
}

async function buyerCaps(views: ReadStore, counted: Counted) {
  const found = await readMany(views, buyers, [...counted.counters.keys()])
  return recordCaps(
    'buyer',
    [...found.values()].filter(({ status }) => status === 'active'),
    counted,
  )
}

async function campaignCaps(views: ReadStore, counted: Counted) {
  const found = await readMany(views, campaigns, [...counted.counters.keys()])
  return recordCaps(
    'campaign',
    [...found.values()].filter(({ status }) => status === 'live'),
    counted,
  )
}

/** The cap uses of active lanes. The counters of a lane that was opened again are those of its present opening. */
async function laneCaps(views: ReadStore, { counters, now }: Counted) {
  const ids = [...counters.keys()].map((counterId) => counterId.split(':').slice(0, 2).join(':'))
  const docs = [...(await readMany(views, lanes, ids)).values()].filter(({ active }) => active)
  const [owners, named] = await Promise.all([
    readReferenced(views, publishers, docs, ({ publisherId }) => publisherId),
    readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId),
  ])
  return docs.flatMap((lane) => {
    const { campaignId, publisherId } = lane
    const counterId = laneCounterId(campaignId, publisherId, reopenedKeyId(lane))
    return capUses(lane, laneUsageOf(counters, counterId, now), {
      kind: 'lane',
      name: `of ${owners.get(publisherId)?.name ?? ''} on ${named.get(campaignId)?.name ?? ''}`,
      to: `/campaigns/${campaignId}/publishers`,
    })
  })
}

/** The uses of all caps, and the targets whose dials fail. */
async function countedFacts(views: ReadStore, { tenant: { workspaceId }, now }: Question) {
  const countersOf = await readCounters(views, workspaceId)
  const counted = (kind: CapUse['kind']): Counted => ({ now, counters: countersOf(kind) })
  const [{ failing, caps }, ...others] = await Promise.all([
    targetFacts(views, counted('target')),
    buyerCaps(views, counted('buyer')),
    campaignCaps(views, counted('campaign')),
    laneCaps(views, counted('lane')),
  ])
  return { targets: failing, caps: [...caps, ...others.flat()] }
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
export const ALERT_READS = [capCounters, workspaces, campaigns, webhooks, buyers, targets, lanes, numbers, publishers]

/** What the alerts of a workspace are judged by, apart from its wallet. */
export async function readAlertFacts(
  views: ReadStore,
  question: Question,
): Promise<Omit<AlertFacts, 'balanceCents' | 'reservedCents' | 'weekUsageCents'>> {
  const { workspaceId } = question.tenant
  const few = { sort: { createdAt: -1 }, limit: ALERTS.max } as const
  const [found, restrictedCampaigns, degradedWebhooks, counts, counted] = await Promise.all([
    readMany(views, workspaces, [workspaceId]),
    readAll(views, campaigns, { filter: { workspaceId, status: 'restricted' }, ...few }),
    readAll(views, webhooks, { filter: { workspaceId, status: 'degraded' }, ...few }),
    numberCounts(views, workspaceId),
    countedFacts(views, question),
  ])
  return {
    subscriptionStatus: found.get(workspaceId)?.subscriptionStatus ?? 'active',
    restrictedCampaigns,
    numbers: counts,
    degradedWebhooks: degradedWebhooks.map(({ id, name }) => ({ id, name: name ?? id })),
    ...counted,
  }
}
