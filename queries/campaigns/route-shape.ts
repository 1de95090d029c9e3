import { z } from 'zod'
import type { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { routeSettings } from '../../src/domain/campaigns/route.ts'
import { buyerReference } from '../../src/domain/demand/buyer.ts'
import { targetKind, targetStatus } from '../../src/domain/demand/target.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { id } from '../../src/kernel/wire.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readReferenced } from '../shared/documents.ts'
import { statusReference } from '../shared/reference.ts'

/** A route in its campaign's routing plan, with its target. */
export const routeShape = routeSettings
  .extend({
    id,
    target: z.object({ id, name: z.string(), status: targetStatus, kind: targetKind }).nullable(),
    buyer: buyerReference.nullable(),
  })
  .meta({ id: 'Route' })

/** Routes with their targets and the targets' buyers. */
export async function routeShapes(views: ReadStore, plan: readonly WithId<DocOf<typeof routes>>[]) {
  const planned = await readReferenced(views, targets, plan, ({ targetId }) => targetId)
  const owners = await readReferenced(views, buyers, planned.values(), ({ buyerId }) => buyerId)
  return plan.map(({ routeId, targetId, priority, weight, active, revenueOverrideCents }) => {
    const target = planned.get(targetId)
    const buyer = target && owners.get(target.buyerId)
    return {
      id: routeId,
      target: target ? { id: targetId, name: target.name, status: target.status, kind: target.kind } : null,
      buyer: statusReference(buyer),
      priority,
      weight,
      active,
      revenueOverrideCents,
    }
  })
}
