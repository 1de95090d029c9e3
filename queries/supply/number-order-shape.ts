import type { numberOrders } from '../../projections/supply/number-orders.ts'
import { numberOrder } from '../../src/domain/supply/number-order.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { DocOf } from '../shared/documents.ts'

/** An order in the response to its buyer (Document 1, "buy a number"). */
export const orderShape = numberOrder
  .pick({ id: true, e164: true, status: true, error: true, createdAt: true })
  .meta({ id: 'NumberOrder' })

/** An order in the list, with its request and its result. */
export const orderRow = numberOrder
  .omit({ userId: true, carrierOrderId: true, region: true, locality: true })
  .meta({ id: 'NumberOrderRow' })

type OrderDoc = WithId<DocOf<typeof numberOrders>>

/** An order in the response to its buyer. */
export function orderShapeOf({ id, e164, status, error, createdAt }: OrderDoc) {
  return { id, e164, status, error, createdAt }
}

/** An order as a row of the list. */
export function orderRowOf({
  workspaceId: _1,
  userId: _2,
  carrierOrderId: _3,
  region: _4,
  locality: _5,
  ...row
}: OrderDoc) {
  return row
}
