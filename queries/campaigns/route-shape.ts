import { z } from 'zod'
import type { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { routeSettings } from '../../src/domain/campaigns/route.ts'
import { buyerStatus } from '../../src/domain/demand/buyer.ts'
import { targetKind, targetStatus } from '../../src/domain/demand/target.ts'
import { id } from '../../src/kernel/wire.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readMany, type WithId } from '../shared/documents.ts'

/** A route as its campaign's plan shows it: by its target. */
export const routeShape = routeSettings.extend({
  id,
  target: z.object({ id, name: z.string(), status: targetStatus, kind: targetKind }).nullable(),
  buyer: z.object({ id, name: z.string(), status: buyerStatus }).nullable(),
})

/** Routes with their targets and the buyers who own these. */
export async function routeShapes(views: ReadStore, plan: readonly WithId<DocOf<typeof routes>>[]) {
  const planned = await readMany(
    views,
    targets,
    plan.map(({ targetId }) => targetId),
  )
  const owners = await readMany(
    views,
    buyers,
    [...planned.values()].map(({ buyerId }) => buyerId),
  )
  return plan.map(({ routeId, targetId, priority, weight, active, revenueOverrideCents }) => {
    const target = planned.get(targetId)
    const buyer = target && owners.get(target.buyerId)
    return {
      id: routeId,
      target: target ? { id: targetId, name: target.name, status: target.status, kind: target.kind } : null,
      buyer: buyer ? { id: buyer.id, name: buyer.name, status: buyer.status } : null,
      priority,
      weight,
      active,
      revenueOverrideCents,
    }
  })
}
