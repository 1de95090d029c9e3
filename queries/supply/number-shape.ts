import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import type { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { campaignReference } from '../../src/domain/campaigns/campaign.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { DAY_MS } from '../../src/domain/shared/time.ts'
import { trackingNumber } from '../../src/domain/supply/number.ts'
import { isBilled } from '../../src/domain/supply/renewal.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { QueryContext, Tenant } from '../../src/kernel/query.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { countBy, type DocOf, readAll, readReferenced } from '../shared/documents.ts'
import { nameReference, statusReference } from '../shared/reference.ts'

/** Days that `calls30d` covers. */
const CALL_DAYS = 30

/** A tracking number in a response. */
export const numberShape = trackingNumber
  .omit({ campaignId: true, publisherId: true, poolId: true, createdAt: true })
  .extend({
    campaign: campaignReference.nullable(),
    publisher: named.nullable(),
    pool: named.nullable(),
    /** Present only when a billing date is known. */
    renewsAt: instant.optional(),
    calls30d: z.int(),
    lastCallAt: instant.nullable(),
  })
  .meta({ id: 'TrackingNumber' })

/** The calls that a requester may know of: on the portal those of the publisher, for a number may have been another's. */
const knownCalls = ({ workspaceId, publisherId }: Tenant): Filter => ({ workspaceId, 'publisher.id': publisherId })

function recentCalls(views: ReadStore, tenant: Tenant, ids: readonly string[], now: string) {
  const startedMs = { $gte: Date.parse(now) - CALL_DAYS * DAY_MS }
  const filter = { ...knownCalls(tenant), startedMs, numberId: { $in: ids } }
  return countBy(views, callLog, filter, 'numberId')
}

/** When each number last took a call, from its newest row of the call log. */
async function lastCalls(views: ReadStore, tenant: Tenant, ids: readonly string[]) {
  const newest = await Promise.all(
    ids.map((numberId) =>
      readAll(views, callLog, { filter: { ...knownCalls(tenant), numberId }, sort: { startedMs: -1 }, limit: 1 }),
    ),
  )
  const times = new Map(ids.map((id, n) => [id, newest[n]?.[0]?.startedMs]))
  return (id: string) => {
    const at = times.get(id)
    return at === undefined ? null : new Date(at).toISOString()
  }
}

/** Numbers with their attribution and activity. */
export async function numberShapes(
  views: ReadStore,
  { tenant, now }: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof numbers>>[],
) {
  const ids = docs.map(({ id }) => id)
  if (ids.length === 0) return []
  const [onCampaigns, byPublishers, inPools, calls30d, lastCallAt] = await Promise.all([
    readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId),
    readReferenced(views, publishers, docs, ({ publisherId }) => publisherId),
    readReferenced(views, pools, docs, ({ poolId }) => poolId),
    recentCalls(views, tenant, ids, now),
    lastCalls(views, tenant, ids),
  ])
  return docs.map(
    ({ workspaceId: _workspace, createdAt: _created, campaignId, publisherId, poolId, renewsAt, ...record }) => {
      const campaign = campaignId === null ? undefined : onCampaigns.get(campaignId)
      const publisher = publisherId === null ? undefined : byPublishers.get(publisherId)
      const pool = poolId === null ? undefined : inPools.get(poolId)
      return {
        ...record,
        campaign: statusReference(campaign),
        publisher: nameReference(publisher),
        pool: nameReference(pool),
        ...(renewsAt !== null && isBilled(record.status) && { renewsAt }),
        calls30d: calls30d(record.id),
        lastCallAt: lastCallAt(record.id),
      }
    },
  )
}
