import { z } from 'zod'
import type { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { campaign } from '../../src/domain/campaigns/campaign.ts'
import { vertical } from '../../src/domain/campaigns/vertical.ts'
import { checklist } from '../../src/domain/configuration/checklist.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { today, todayFor, todayOf } from '../calls/today-figures.ts'
import { countersOf, liveCallsOf } from '../routing/usage-figures.ts'
import type { DocOf, WithId } from '../shared/documents.ts'
import { verticalsOf } from './vertical-shape.ts'

/** A campaign as it is answered. */
export const campaignShape = campaign.extend({
  vertical: vertical.nullable(),
  counts: z.object({ numbers: z.int(), routes: z.int(), activeRoutes: z.int(), publishers: z.int() }),
  today,
  liveCalls: z.int(),
})

/** A campaign with its go-live checklist: as it is read by itself, and after a write. */
export const campaignDetail = campaignShape.extend({ blockers: z.array(z.string()), canGoLive: z.boolean(), checklist })

async function countByCampaign(views: ReadStore, collection: string, filter: Filter) {
  const groups = await views.sum(collection, filter, ['campaignId'], [])
  const counts = new Map(groups.map(({ key: [id], count }) => [id, count]))
  return (id: string) => counts.get(id) ?? 0
}

async function countsOf(views: ReadStore, workspaceId: string, ids: readonly string[]) {
  const on = { workspaceId, campaignId: { $in: ids } }
  const [numbered, routed, activelyRouted, published] = await Promise.all([
    countByCampaign(views, collectionOf(numbers), { ...on, status: { $ne: 'released' } }),
    countByCampaign(views, collectionOf(routes), on),
    countByCampaign(views, collectionOf(routes), { ...on, active: true }),
    countByCampaign(views, collectionOf(lanes), { ...on, active: true }),
  ])
  return (id: string) => ({
    numbers: numbered(id),
    routes: routed(id),
    activeRoutes: activelyRouted(id),
    publishers: published(id),
  })
}

/** Campaigns with their counts, live calls and today's figures. */
export async function campaignShapes(
  views: ReadStore,
  asked: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof campaigns>>[],
) {
  const ids = docs.map(({ id }) => id)
  if (ids.length === 0) return []
  const [counts, counters, figures, sold] = await Promise.all([
    countsOf(views, asked.tenant.workspaceId, ids),
    countersOf(views, 'campaign', ids),
    todayOf(views, asked, 'campaign', ids),
    verticalsOf(
      views,
      docs.map(({ verticalId }) => verticalId),
    ),
  ])
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    vertical: sold(record.verticalId),
    counts: counts(record.id),
    today: todayFor(figures, record.id),
    liveCalls: liveCallsOf(counters, record.id),
  }))
}
