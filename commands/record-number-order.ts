import { z } from 'zod'
import { NUMBER, TEXT } from '../src/domain/limits.ts'
import { orderMoves, orderStatus } from '../src/domain/order.ts'
import { missing } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id } from '../src/kernel/wire.ts'

/** Records how far the carrier says that an order is. A completed order brings its number; one that is over stays so. */
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
  decide({ orderId, ...news }, state, context) {
    const order = state.orders.get(orderId)
    return order ? orderMoves(state, order, news, context) : missing('order')
  },
})
