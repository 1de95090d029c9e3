import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { EventOf } from '../../kernel/event.ts'
import { id, instant } from '../../kernel/wire.ts'
import { price } from '../money/money.ts'
import { e164, nullableText } from '../shared/fields.ts'
import { NUMBER, NUMBER_ORDER, TEXT } from '../shared/limits.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { type Numbers, newNumber, type numberEvents, numberType } from './number.ts'
import { monthAfter } from './renewal.ts'

export const orderStatus = z.enum(['pending', 'submitted', 'review', 'completed', 'failed'])
export type OrderStatus = z.infer<typeof orderStatus>

/** Allowed transitions of an order's status (Supplement §3). */
export const ORDER_TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['submitted', 'review', 'completed', 'failed'],
  submitted: ['review', 'completed', 'failed'],
  review: ['completed', 'failed'],
  completed: [],
  failed: [],
}

/** The ordered number with its prices. */
export const orderedNumber = z.object({
  e164,
  type: numberType,
  region: nullableText(TEXT.contact),
  locality: nullableText(TEXT.contact),
  setupCents: price,
  monthlyCents: price,
})

/** The buyer's own labels of an order. */
export const orderNotes = z.object({
  label: nullableText(NUMBER.label),
  tags: z.array(z.string().max(NUMBER_ORDER.tag)).max(NUMBER_ORDER.tags).readonly(),
  customerReference: nullableText(NUMBER_ORDER.customerReference),
})

/** The result of an order's review; `error` is the reason when it fails. */
export const orderResolution = z.object({
  status: orderStatus.extract(['completed', 'failed']),
  error: z.string().trim().min(1).max(NUMBER.statusNote).optional(),
})

/** An order of a number (Document 1, Purchase order). */
export const numberOrder = orderedNumber.extend(orderNotes.shape).extend({
  id,
  /** Chosen by the client: a repeated request is the same order. */
  requestId: id,
  userId: id.nullable(),
  status: orderStatus,
  /** Why the order failed, as a sentence. */
  error: z.string().nullable(),
  carrierOrderId: z.string().nullable(),
  /** Id of the delivered number; null before completion. */
  numberId: id.nullable(),
  createdAt: instant,
  updatedAt: instant,
})
export type NumberOrder = Readonly<z.infer<typeof numberOrder>>

const orderChange = z.object({
  orderId: id,
  e164,
  from: orderStatus,
  setupCents: price,
  carrierOrderId: z.string().nullable(),
})

/** These names are the storage format. */
export const orderEvents = {
  NumberOrderPlaced: z.object({ order: numberOrder }),
  /** The carrier reported a new status. */
  NumberOrderAdvanced: orderChange.extend({ to: orderStatus }),
  NumberOrderCompleted: orderChange.extend({ numberId: id }),
  NumberOrderFailed: orderChange.extend({ error: z.string() }),
  /** The wallet no longer covered the setup fee: the order is removed. */
  NumberOrderDeclined: z.object({ orderId: id, e164, requestId: id, setupCents: price }),
}

export interface Orders {
  readonly orders: PersistentMap<string, NumberOrder>
  /** Order id by the request's own id. */
  readonly orderIds: PersistentMap<string, string>
}

/** An order after one of its events. */
export function applyOrderChange<
  O extends Pick<NumberOrder, 'status' | 'error' | 'carrierOrderId' | 'numberId' | 'updatedAt'>,
>(order: O, change: Pick<O, 'status' | 'carrierOrderId'> & Partial<Pick<O, 'error' | 'numberId'>>, at: string): O {
  return { ...order, ...change, updatedAt: at }
}

const updateOrder = createRecordUpdate<NumberOrder, 'orders'>('orders')

export const evolveOrders: SliceOf<Orders, typeof orderEvents> = {
  NumberOrderPlaced: (state, { data: { order } }) => ({
    ...state,
    orders: state.orders.set(order.id, order),
    orderIds: state.orderIds.set(order.requestId, order.id),
  }),
  NumberOrderAdvanced: (state, { data: { orderId, to, carrierOrderId }, meta }) =>
    updateOrder(state, orderId, (old) => applyOrderChange(old, { status: to, carrierOrderId }, meta.at)),
  NumberOrderCompleted: (state, { data: { orderId, numberId, carrierOrderId }, meta }) =>
    updateOrder(state, orderId, (old) =>
      applyOrderChange(old, { status: 'completed', numberId, carrierOrderId }, meta.at),
    ),
  NumberOrderFailed: (state, { data: { orderId, error, carrierOrderId }, meta }) =>
    updateOrder(state, orderId, (old) => applyOrderChange(old, { status: 'failed', error, carrierOrderId }, meta.at)),
  NumberOrderDeclined: (state, { data: { orderId, requestId } }) => ({
    ...state,
    orders: state.orders.delete(orderId),
    orderIds: state.orderIds.delete(requestId),
  }),
}

/** Whether the order waits for the carrier, which is polled until it reports more. */
export function isAwaitingCarrier({ status }: Pick<NumberOrder, 'status'>): boolean {
  return status === 'pending' || status === 'submitted'
}

/** Whether an order can still become a number. */
export function isInFlight({ status }: Pick<NumberOrder, 'status'>): boolean {
  return ORDER_TRANSITIONS[status].length > 0
}

/** Orders that can still become numbers: they count against the plan and reserve their phone number. */
export function ordersInFlight({ orders }: Orders): readonly NumberOrder[] {
  return [...orders.filter(isInFlight).values()]
}

/** The order of a `requestId`; null when there is none. */
export function orderByRequest({ orders, orderIds }: Orders, requestId: string): NumberOrder | null {
  return orders.get(orderIds.get(requestId) ?? '') ?? null
}

/** The wallet reference of an order's setup fee: reserved, then charged or released. */
export function setupReference(orderId: string): string {
  return `setup:${orderId}`
}

/** Setup fees of orders in flight that the wallet has not reserved yet, in cents. */
export function unreservedCents(
  open: readonly Pick<NumberOrder, 'id' | 'setupCents'>[],
  reservations: PersistentMap<string, number>,
): number {
  const unreserved = open.filter(({ id }) => !reservations.has(setupReference(id)))
  return unreserved.reduce((sum, { setupCents }) => sum + setupCents, 0)
}

/** A status reported by the carrier, or by staff after a review. */
export interface OrderUpdate {
  readonly status: OrderStatus
  readonly error: string | null
  readonly carrierOrderId: string | null
}

/**
 * The events of a reported status: none when it is not new, or goes backwards. A completed order provisions the number and
 * requests its delivery in the same batch.
 */
export function orderUpdateEvents(
  state: Numbers,
  order: NumberOrder,
  update: OrderUpdate,
  { now, newId }: { readonly now: string; readonly newId: () => string },
): readonly EventOf<typeof orderEvents & typeof numberEvents>[] {
  const { id: orderId, e164, status: from, setupCents } = order
  const carrierOrderId = update.carrierOrderId ?? order.carrierOrderId
  const base = { orderId, e164, from, setupCents, carrierOrderId }
  const advances = ORDER_TRANSITIONS[from].includes(update.status)
  if (!advances && (!isInFlight(order) || carrierOrderId === order.carrierOrderId)) return []
  if (update.status === 'failed') {
    return [
      { type: 'NumberOrderFailed', data: { ...base, error: update.error ?? 'The carrier could not fill the order.' } },
    ]
  }
  if (update.status !== 'completed')
    return [{ type: 'NumberOrderAdvanced', data: { ...base, to: advances ? update.status : from } }]
  const existing = state.numberIds.get(e164)
  if (existing !== undefined) return [{ type: 'NumberOrderCompleted', data: { ...base, numberId: existing } }]
  const number = newNumber({ ...order, renewsAt: monthAfter(now) }, { id: newId(), now })
  return [
    { type: 'NumberOrderCompleted', data: { ...base, numberId: number.id } },
    { type: 'NumberProvisioned', data: { number } },
    { type: 'NumberDeliveryRequested', data: { numberId: number.id, e164 } },
  ]
}
