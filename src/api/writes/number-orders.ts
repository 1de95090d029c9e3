import { z } from 'zod'
import { placeNumberOrder } from '../../../commands/supply/place-number-order.ts'
import { resolveNumberOrder } from '../../../commands/supply/resolve-number-order.ts'
import { numberOrders } from '../../../projections/supply/number-orders.ts'
import { getNumberOrder } from '../../../queries/supply/get-number-order.ts'
import { orderShape } from '../../../queries/supply/number-order-shape.ts'
import { numberShape } from '../../../queries/supply/number-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { e164 } from '../../domain/shared/fields.ts'
import { NUMBER_ORDER } from '../../domain/shared/limits.ts'
import { type OrderStatus, orderByRequest, orderResolution } from '../../domain/supply/number-order.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { advanceOrder } from '../../reactions/number-orders.ts'
import { type QuoteProblem, quoteOf } from '../number-quotes.ts'
import { defineWrite } from './define-write.ts'
import type { WriteContext } from './write-context.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const purchase = z.object({
  e164,
  quoteToken: z.string().min(1).max(NUMBER_ORDER.quoteToken),
  requestId: id,
  label: z.string().max(NUMBER_ORDER.label).optional(),
  tags: z.array(z.string().max(NUMBER_ORDER.tag)).max(NUMBER_ORDER.tags).optional(),
  customerReference: z.string().max(NUMBER_ORDER.customerReference).optional(),
})
type Purchase = z.infer<typeof purchase>

const answer = z.object({ order: orderShape, number: numberShape.nullable() })

/** How an order is answered (Document 1, Purchase order). */
const STATUS: Readonly<Record<OrderStatus, number>> = {
  completed: 201,
  pending: 202,
  submitted: 202,
  review: 202,
  failed: 422,
}

const QUOTE_REFUSALS: Readonly<Record<QuoteProblem, Refusal<'bad-request'>>> = {
  unknown: refuse('bad-request', { quoteToken: 'was not made for you here' }, 'The quote is not one of yours.'),
  expired: refuse('bad-request', { quoteToken: 'has expired' }, 'The quote has expired: search again.'),
  'other-number': refuse('bad-request', { quoteToken: 'is of another number' }, 'The quote is of another number.'),
}

const REQUEST_ID_USED = refuse(
  'conflict',
  { requestId: 'was used for another order' },
  'The requestId was used for another order.',
)

type PurchaseContext = WriteContext<unknown, Purchase>

/** Places the order of a request, at the price of its quote. The order that the same request has placed before stands as it is. */
async function placeOrder({
  body,
  tools,
  tenant: { workspaceId },
  principal,
  now,
  execute,
}: PurchaseContext): Promise<string | Refusal> {
  const { quoteToken, requestId, e164, label = null, tags = [], customerReference = null } = body
  const userId = principal.actor.id
  const state = await tools.writer.stateOf(workspace, workspaceId)
  const known = orderByRequest(state, requestId)
  if (known?.e164 === e164 && known.userId === userId) return known.id
  const quote = quoteOf(tools.secrets, quoteToken, { e164, userId, workspaceId, now })
  if (typeof quote === 'string') return QUOTE_REFUSALS[quote]
  const elsewhere = await tools.views.find(collectionOf(numberOrders), { filter: { requestId }, limit: 5 })
  if (elsewhere.some(({ doc }) => doc.workspaceId !== workspaceId)) return REQUEST_ID_USED
  const { type, region, locality, setupCents, monthlyCents } = quote
  const terms = { e164, type, region, locality, setupCents, monthlyCents }
  const placed = await execute(placeNumberOrder, { ...terms, requestId, label, tags, customerReference })
  if (isRefusal(placed)) return placed
  const again = await tools.writer.stateOf(workspace, workspaceId)
  return placed.first('NumberOrderPlaced')?.order.id ?? orderByRequest(again, requestId)?.id ?? REQUEST_ID_USED
}

const buy = defineWriteRoute({
  name: 'purchase-number',
  summary: 'Buy a number',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/numbers/purchase' }],
  body: purchase,
  responses: { 201: answer, 202: answer, 422: answer },
  rejects: ['bad-request', 'ordering-not-configured', ...placeNumberOrder.rejects],
  async run(context) {
    const { tools, runEffects, query } = context
    if (tools.carrier().numbers === null) return refuse('ordering-not-configured')
    const orderId = await placeOrder(context)
    if (isRefusal(orderId)) return orderId
    await runEffects((by, cause) => advanceOrder(by, orderId, cause))
    const found = await query(getNumberOrder, { id: orderId })
    // An order that is gone was declined: the wallet no longer held its fee when it came to that.
    if (isRefusal(found)) return found.refused === 'order-not-found' ? refuse('insufficient-funds') : found
    return { status: STATUS[found.order.status], body: found }
  },
})

const resolve = defineWrite({
  name: 'resolve-number-order',
  summary: 'End the review of an order',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/orders/:id' }],
  params: z.object({ id }),
  body: orderResolution,
  responses: { 200: answer },
  tenantFrom: numberOrders,
  record: ({ id }) => id,
  command: resolveNumberOrder,
  input: ({ params, body }) => ({ orderId: params.id, ...body }),
  runsEffects: true,
  answer: { query: getNumberOrder, params: ({ params }) => params },
})

/** Orders of numbers (Document 1, "buy a number"). */
export const numberOrderWrites: readonly Write[] = [buy, resolve]
