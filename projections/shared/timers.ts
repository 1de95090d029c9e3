import { z } from 'zod'
import { callEvents } from '../../src/domain/calls/call.ts'
import { CONNECT_RETRY_SECONDS, ORDER_POLL_SECONDS, STUCK_CALL_SECONDS } from '../../src/domain/shared/limits.ts'
import { numberEvents } from '../../src/domain/supply/number.ts'
import { awaitsCarrier, orderEvents } from '../../src/domain/supply/order.ts'
import { billedAt } from '../../src/domain/supply/renewal.ts'
import { byType } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { cents, id } from '../../src/kernel/wire.ts'

const { CallArrived, CallEnded, CallSettled, UsageCharged } = callEvents
const {
  NumberProvisioned,
  NumberDeliveryRequested,
  NumberDeliveryReported,
  NumberStatusChanged,
  NumberRenewed,
  NumberRenewalFailed,
} = numberEvents
const { NumberOrderPlaced, NumberOrderAdvanced, NumberOrderCompleted, NumberOrderFailed, NumberOrderDeclined } =
  orderEvents

const kinds = z.enum(['settle', 'usage', 'stuck', 'order', 'connect', 'renewal'])
type Kind = z.infer<typeof kinds>
const timerId = (kind: Kind, subjectId: string) => `${kind}:${subjectId}`

const events = {
  CallArrived,
  CallEnded,
  CallSettled,
  UsageCharged,
  NumberOrderPlaced,
  NumberOrderAdvanced,
  NumberOrderCompleted,
  NumberOrderFailed,
  NumberOrderDeclined,
  NumberDeliveryRequested,
  NumberDeliveryReported,
  NumberStatusChanged,
  NumberProvisioned,
  NumberRenewed,
  NumberRenewalFailed,
}

const doc = z.object({
  workspaceId: id,
  kind: kinds,
  /** Milliseconds since the epoch. */
  dueAt: z.int(),
  /** The call, order or number that it is about. */
  subjectId: id,
  /** What falls due, of `usage` alone. */
  amountCents: cents.nullable(),
})
type Doc = z.infer<typeof doc>

/** What a call's end leaves to be done, with the instants at which it is due. */
function leftBy({ callId, occurredAt, settlesAt, usageDueAt, usageCents }: z.infer<typeof CallEnded>) {
  return [
    ...(settlesAt > occurredAt ? [{ kind: 'settle' as const, at: settlesAt, callId, amountCents: null }] : []),
    ...(usageDueAt ? [{ kind: 'usage' as const, at: usageDueAt, callId, amountCents: usageCents }] : []),
  ]
}

/** A row that falls due some seconds after the event that brings it. */
function dueAfter(
  { meta }: { readonly meta: { readonly workspaceId: string | null; readonly at: string } },
  kind: Kind,
  subjectId: string,
  seconds: number,
): Doc | null {
  const { workspaceId, at } = meta
  return workspaceId === null
    ? null
    : { workspaceId, kind, dueAt: Date.parse(at) + seconds * 1_000, subjectId, amountCents: null }
}

/**
 * Work that falls due, by kind and subject: settlement, usage, calls whose end was never told, orders that the carrier
 * has not filled, numbers that it has not pointed at us, and their rent. Rows go when it is done; rent's moves on.
 */
export const timers = defineProjection({
  name: 'timers',
  version: 2,
  events,
  doc,
  indexes: [{ dueAt: 1 }],
  key: byType<typeof events, string | readonly string[]>({
    CallArrived: ({ data }) => timerId('stuck', data.arrival.callId),
    CallEnded: ({ data }) => [
      timerId('stuck', data.callId),
      ...leftBy(data).map(({ kind, callId }) => timerId(kind, callId)),
    ],
    CallSettled: ({ data }) => timerId('settle', data.callId),
    UsageCharged: ({ data }) => timerId('usage', data.callId),
    NumberOrderPlaced: ({ data }) => timerId('order', data.order.id),
    NumberOrderAdvanced: ({ data }) => timerId('order', data.orderId),
    NumberOrderCompleted: ({ data }) => timerId('order', data.orderId),
    NumberOrderFailed: ({ data }) => timerId('order', data.orderId),
    NumberOrderDeclined: ({ data }) => timerId('order', data.orderId),
    NumberDeliveryRequested: ({ data }) => timerId('connect', data.numberId),
    NumberDeliveryReported: ({ data }) => timerId('connect', data.numberId),
    NumberStatusChanged: ({ data: { numberId } }) => [timerId('connect', numberId), timerId('renewal', numberId)],
    NumberProvisioned: ({ data }) => timerId('renewal', data.number.id),
    NumberRenewed: ({ data }) => timerId('renewal', data.numberId),
    NumberRenewalFailed: ({ data }) => timerId('renewal', data.numberId),
  }),
  starts: {
    CallArrived({ data: { arrival }, meta }): Doc | null {
      const { callId, occurredAt } = arrival
      // A call dated in the past is played now: it is no more stuck than one that arrives now.
      const dueAt = Math.max(Date.parse(occurredAt), Date.parse(meta.at)) + STUCK_CALL_SECONDS * 1_000
      return meta.workspaceId === null
        ? null
        : { workspaceId: meta.workspaceId, kind: 'stuck', dueAt, subjectId: callId, amountCents: null }
    },
    CallEnded({ data, meta }, id) {
      const left = leftBy(data).find(({ kind, callId }) => timerId(kind, callId) === id)
      if (!left || meta.workspaceId === null) return null
      const { kind, at, callId, amountCents } = left
      return { workspaceId: meta.workspaceId, kind, dueAt: Date.parse(at), subjectId: callId, amountCents }
    },
    NumberOrderPlaced: (event) => dueAfter(event, 'order', event.data.order.id, ORDER_POLL_SECONDS),
    NumberDeliveryRequested: (event) => dueAfter(event, 'connect', event.data.numberId, CONNECT_RETRY_SECONDS),
    NumberProvisioned({ data: { number }, meta: { workspaceId } }): Doc | null {
      const due = billedAt(number)
      if (due === null || workspaceId === null) return null
      return { workspaceId, kind: 'renewal', dueAt: Date.parse(due), subjectId: number.id, amountCents: null }
    },
  },
  on: {
    CallEnded: (doc) => (doc.kind === 'stuck' ? null : doc),
    CallSettled: () => null,
    UsageCharged: () => null,
    NumberOrderAdvanced: (doc, { data }) => (awaitsCarrier({ status: data.to }) ? doc : null),
    NumberOrderCompleted: () => null,
    NumberOrderFailed: () => null,
    NumberOrderDeclined: () => null,
    NumberDeliveryReported: () => null,
    NumberStatusChanged: (doc, { data }) => (data.after === 'released' ? null : doc),
    NumberRenewed: (doc, { data }) => ({ ...doc, dueAt: Date.parse(data.after) }),
    NumberRenewalFailed: (doc, { data }) => ({ ...doc, dueAt: Date.parse(data.retryAt) }),
  },
})
