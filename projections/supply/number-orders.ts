import { applyOrderChange, numberOrder, orderEvents } from '../../src/domain/supply/number-order.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Orders of numbers, by id; by the request's own id across workspaces. */
export const numberOrders = defineProjection({
  name: 'number-orders',
  // 2: the staff's list of orders in review, over all workspaces.
  version: 2,
  events: orderEvents,
  doc: numberOrder.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, createdAt: -1 }, { requestId: 1 }, { createdAt: -1 }, { status: 1, createdAt: -1 }],
  key: (event) => (event.type === 'NumberOrderPlaced' ? event.data.order.id : event.data.orderId),
  create: {
    NumberOrderPlaced(event) {
      const { id: _id, ...record } = event.data.order
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    NumberOrderAdvanced: (doc, { data: { to, carrierOrderId }, meta }) =>
      applyOrderChange(doc, { status: to, carrierOrderId }, meta.at),
    NumberOrderCompleted: (doc, { data: { numberId, carrierOrderId }, meta }) =>
      applyOrderChange(doc, { status: 'completed', numberId, carrierOrderId }, meta.at),
    NumberOrderFailed: (doc, { data: { error, carrierOrderId }, meta }) =>
      applyOrderChange(doc, { status: 'failed', error, carrierOrderId }, meta.at),
    NumberOrderDeclined: () => null,
  },
})
