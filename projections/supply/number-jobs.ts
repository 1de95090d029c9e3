import { NUMBER, NUMBER_ORDER } from '../../src/domain/shared/limits.ts'
import { numberEvents } from '../../src/domain/supply/number.ts'
import { isAwaitingCarrier, orderEvents } from '../../src/domain/supply/number-order.ts'
import { nextBillingAt } from '../../src/domain/supply/renewal.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerAfter, timerId } from '../shared/timers.ts'

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

const events = {
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

/** Orders that the carrier has not filled, numbers that it does not deliver yet, and their rent. */
export const numberJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string | readonly string[]>({
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
  create: {
    NumberOrderPlaced: (event) => timerAfter(event, 'order', event.data.order.id, NUMBER_ORDER.pollSeconds),
    NumberDeliveryRequested: (event) => timerAfter(event, 'connect', event.data.numberId, NUMBER.connectRetrySeconds),
    NumberProvisioned({ data: { number }, meta: { workspaceId } }) {
      const due = nextBillingAt(number)
      if (due === null || workspaceId === null) return null
      return { workspaceId, kind: 'renewal', dueAt: Date.parse(due), subjectId: number.id, amountCents: null }
    },
  },
  update: {
    NumberOrderAdvanced: (doc, { data }) => (isAwaitingCarrier({ status: data.to }) ? doc : null),
    NumberOrderCompleted: () => null,
    NumberOrderFailed: () => null,
    NumberOrderDeclined: () => null,
    NumberDeliveryReported: () => null,
    NumberStatusChanged: (doc, { data }) => (data.after === 'released' ? null : doc),
    NumberRenewed: (doc, { data }) => ({ ...doc, dueAt: Date.parse(data.after) }),
    NumberRenewalFailed: (doc, { data }) => ({ ...doc, dueAt: Date.parse(data.retryAt) }),
  },
})
