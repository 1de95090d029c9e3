import { z } from 'zod'
import type { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { campaign } from '../../src/domain/campaigns/campaign.ts'
import { vertical } from '../../src/domain/campaigns/vertical.ts'
import { checklist } from '../../src/domain/configuration/checklist.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { today, todayFor, todayOf } from '../calls/today-figures.ts'
import { countersOf, liveCallsOf } from '../routing/usage-figures.ts'
import type { DocOf } from '../shared/documents.ts'
import { countBy } from '../shared/documents.ts'
import { verticalsOf } from './vertical-shape.ts'

/** A campaign in a response. */
export const campaignShape = campaign
  .extend({
    vertical: vertical.nullable(),
    counts: z.object({ numbers: z.int(), routes: z.int(), activeRoutes: z.int(), publishers: z.int() }),
    today,
    liveCalls: z.int(),
  })
  .meta({ id: 'CampaignRow' })

/** A campaign with its go-live checklist: the response of a single read and of writes. */
export const campaignDetail = campaignShape
  .extend({ blockers: z.array(z.string()), canGoLive: z.boolean(), checklist })
  .meta({ id: 'Campaign' })

async function countsOf(views: ReadStore, workspaceId: string, ids: readonly string[]) {
  const on = { workspaceId, campaignId: { $in: ids } }
  const [numbersOf, routesOf, activeRoutesOf, publishersOf] = await Promise.all([
    countBy(views, numbers, { ...on, status: { $ne: 'released' } }, 'campaignId'),
    countBy(views, routes, on, 'campaignId'),
    countBy(views, routes, { ...on, active: true }, 'campaignId'),
    countBy(views, lanes, { ...on, active: true }, 'campaignId'),
  ])
  return (id: string) => ({
    numbers: numbersOf(id),
    routes: routesOf(id),
    activeRoutes: activeRoutesOf(id),
    publishers: publishersOf(id),
  })
}

/** Campaigns with their counts, live calls and today's figures. */
export async function campaignShapes(
  views: ReadStore,
  request: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof campaigns>>[],
) {
  const ids = docs.map(({ id }) => id)
  if (ids.length === 0) return []
  const [counts, counters, figures, verticalOf] = await Promise.all([
    countsOf(views, request.tenant.workspaceId, ids),
    countersOf(views, 'campaign', ids),
    todayOf(views, request, 'campaign', ids),
    verticalsOf(
      views,
      docs.map(({ verticalId }) => verticalId),
    ),
  ])
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    vertical: verticalOf(record.verticalId),
    counts: counts(record.id),
    today: todayFor(figures, record.id),
    liveCalls: liveCallsOf(counters, record.id),
  }))
}
