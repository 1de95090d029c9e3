import { z } from 'zod'
import type { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { buyer } from '../../src/domain/demand/buyer.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { today, todayFor, todayOf } from '../calls/today-figures.ts'
import { countersOf, usage, usageOf } from '../routing/usage-figures.ts'
import type { DocOf } from '../shared/documents.ts'

/** A buyer in a response. */
export const buyerShape = buyer.extend({ usage, liveCalls: z.int(), today }).meta({ id: 'Buyer' })
/** A buyer in a list, with the count of its targets that are not archived. */
export const buyerRow = buyerShape
  .extend({ targets: z.object({ total: z.int(), active: z.int() }) })
  .meta({ id: 'BuyerRow' })

/** Buyers with their usage and today's figures. */
export async function buyerShapes(
  views: ReadStore,
  request: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof buyers>>[],
) {
  const ids = docs.map(({ id }) => id)
  const [counters, figures] = await Promise.all([
    countersOf(views, 'buyer', ids),
    todayOf(views, request, 'buyer', ids),
  ])
  return docs.map(({ workspaceId: _workspaceId, ...record }) => {
    const used = usageOf(counters, record.id, request.now)
    return { ...record, usage: used, liveCalls: used.liveCalls, today: todayFor(figures, record.id) }
  })
}

/** Counts of buyers' targets that are not archived, by buyer. */
async function targetCounts(views: ReadStore, workspaceId: string, buyerIds: readonly string[]) {
  const groups = await views.sum(
    collectionOf(targets),
    { workspaceId, buyerId: { $in: buyerIds }, status: { $ne: 'archived' } },
    ['buyerId', 'status'],
    [],
  )
  const of = (buyerId: string) => groups.filter(({ key }) => key[0] === buyerId)
  const sum = (list: typeof groups) => list.reduce((total, { count }) => total + count, 0)
  return (buyerId: string) => ({
    total: sum(of(buyerId)),
    active: sum(of(buyerId).filter(({ key }) => key[1] === 'active')),
  })
}

/** Buyers in a list. */
export async function buyerRows(
  views: ReadStore,
  request: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof buyers>>[],
) {
  const ids = docs.map(({ id }) => id)
  const [rows, targetsOf] = await Promise.all([
    buyerShapes(views, request, docs),
    targetCounts(views, request.tenant.workspaceId, ids),
  ])
  return rows.map((row) => ({ ...row, targets: targetsOf(row.id) }))
}
