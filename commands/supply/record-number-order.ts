import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { NUMBER, TEXT } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { orderStatus, orderUpdateEvents } from '../../src/domain/supply/number-order.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Records an order's status as the carrier reports it. A completed order provisions its number; an ended one stays ended. */
export const recordNumberOrder = defineCommand({
  name: 'record-number-order',
  entity: workspace,
  input: z.object({
    orderId: id,
    status: orderStatus,
    error: z.string().min(1).max(NUMBER.statusNote).nullable(),
    carrierOrderId: z.string().min(1).max(TEXT.reference).nullable(),
  }),
  rejects: ['order-not-found'],
  decide({ orderId, ...update }, state, context) {
    const order = state.orders.get(orderId)
    return order ? orderUpdateEvents(state, order, update, context) : refuseNotFound('order')
  },
})
