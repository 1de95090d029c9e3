import { z } from 'zod'
import type { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { buyer } from '../../src/domain/demand/buyer.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { today, todayFor, todayOf } from '../calls/today-figures.ts'
import { countersOf, usage, usageOf } from '../routing/usage-figures.ts'
import type { DocOf, WithId } from '../shared/documents.ts'

/** A buyer as it is answered. */
export const buyerShape = buyer.extend({ usage, liveCalls: z.int(), today })
/** A buyer on a list: with how many non-archived targets it owns. */
export const buyerRow = buyerShape.extend({ targets: z.object({ total: z.int(), active: z.int() }) })

/** Buyers with their usage and today's figures. */
export async function buyerShapes(
  views: ReadStore,
  asked: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof buyers>>[],
) {
  const ids = docs.map(({ id }) => id)
  const [counters, figures] = await Promise.all([countersOf(views, 'buyer', ids), todayOf(views, asked, 'buyer', ids)])
  return docs.map(({ workspaceId: _workspaceId, ...record }) => {
    const used = usageOf(counters, record.id, asked.now)
    return { ...record, usage: used, liveCalls: used.liveCalls, today: todayFor(figures, record.id) }
  })
}

/** How many non-archived targets buyers own, by buyer. */
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

/** Buyers as a list shows them. */
export async function buyerRows(
  views: ReadStore,
  asked: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof buyers>>[],
) {
  const ids = docs.map(({ id }) => id)
  const [rows, targetsOf] = await Promise.all([
    buyerShapes(views, asked, docs),
    targetCounts(views, asked.tenant.workspaceId, ids),
  ])
  return rows.map((row) => ({ ...row, targets: targetsOf(row.id) }))
}
