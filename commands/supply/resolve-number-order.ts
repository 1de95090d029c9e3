import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseTransition } from '../../src/domain/shared/refusals.ts'
import { orderResolution, orderUpdateEvents } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Ends an order's review by the platform's staff: it provisions the number, or fails with `error`. */
export const resolveNumberOrder = defineCommand({
  name: 'resolve-number-order',
  entity: workspace,
  input: orderResolution.extend({ orderId: id }),
  rejects: ['order-not-found', 'conflict'],
  decide({ orderId, status, error = 'The order was turned down in review.' }, state, context) {
    const order = state.orders.get(orderId)
    if (!order) return refuseNotFound('order')
    if (order.status === status) return []
    if (order.status !== 'review') return refuseTransition('Order', order.status, [])
    return orderUpdateEvents(
      state,
      order,
      { status, error: status === 'failed' ? error : null, carrierOrderId: null },
      context,
    )
  },
})
