import { chargeSetupFee } from '../../commands/supply/charge-setup-fee.ts'
import { declineNumberOrder } from '../../commands/supply/decline-number-order.ts'
import { recordNumberOrder } from '../../commands/supply/record-number-order.ts'
import { releaseSetupFee } from '../../commands/supply/release-setup-fee.ts'
import { reportNumberDelivery } from '../../commands/supply/report-number-delivery.ts'
import { reserveSetupFee } from '../../commands/supply/reserve-setup-fee.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { NUMBER } from '../domain/shared/limits.ts'
import { numberEvents } from '../domain/supply/number.ts'
import { isAwaitingCarrier, type NumberOrder, type OrderUpdate, orderEvents } from '../domain/supply/number-order.ts'
import { defineReaction } from '../kernel/reaction.ts'
import { type CarrierNumbers, CarrierRefused, CarrierUnavailable } from '../ports/carrier-numbers.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { LeaseEnds } from './lease-ends.ts'
import type { Causation, FlowTools } from './tools.ts'

/** Dependencies of number reactions, in addition to those of the call flow. */
export interface NumberTools extends FlowTools {
  /** Current configuration of a workspace. @throws LogUnavailable */
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
  /** The same as it was a moment ago, for what need not wait for its tail. @throws LogUnavailable */
  readonly recentConfiguration: (workspaceId: string) => Promise<WorkspaceState>
  /** Events of a stream from a revision on, in pages and in the versions that this code knows. @throws LogUnavailable */
  readonly read: EventLog['read']
  readonly deliveries: DeliveryStore
  readonly leaseEnds: LeaseEnds
  /** Runs work of one key one after the other in this process. */
  readonly inOrder: <Result>(key: string, work: () => Promise<Result>) => Promise<Result>
  /** Runs work under a claim. Joins a run of the same key in this process; does nothing while another process runs it. */
  readonly runExclusive: (key: string, work: (tools: NumberTools) => Promise<unknown>) => Promise<void>
}

const reasonOf = (error: Error) => error.message.slice(0, NUMBER.statusNote) || 'The carrier gave no reason.'

/** The carrier's status of an order; places the order if the carrier does not have it yet. A refusal is the status `failed`. */
async function carrierStatusOf(numbers: CarrierNumbers, order: NumberOrder, workspaceId: string): Promise<OrderUpdate> {
  const { id: commandId, e164, customerReference, carrierOrderId } = order
  try {
    const known = carrierOrderId === null ? null : await numbers.findOrder({ commandId, carrierOrderId })
    return known ?? (await numbers.placeOrder({ commandId, workspaceId, e164, customerReference }))
  } catch (error) {
    if (error instanceof CarrierRefused) return { status: 'failed', error: reasonOf(error), carrierOrderId }
    throw error
  }
}

/** Ignores an unavailable carrier: the scheduled job retries the work. */
async function skipIfUnavailable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CarrierUnavailable)) throw error
  }
}

/**
 * Advances an order as far as possible now: reserves the setup fee, places the order or looks up its status at the
 * carrier, and records that status. Every step is idempotent, so a run after a crash starts from the first step.
 */
export function advanceOrder({ runExclusive }: NumberTools, orderId: string, cause: Causation): Promise<void> {
  const workspaceId = cause.meta.workspaceId ?? ''
  return runExclusive(`order:${orderId}`, async ({ run, carrier, configuration }) => {
    const order = (await configuration(workspaceId)).orders.get(orderId)
    const { numbers } = carrier
    if (!order || !isAwaitingCarrier(order)) return
    const refusal = await run(reserveSetupFee, { orderId }, cause)
    if (refusal?.refused === 'insufficient-funds') await run(declineNumberOrder, { orderId }, cause)
    if (refusal || numbers === null) return
    await skipIfUnavailable(async () => {
      const { status, error, carrierOrderId } = await carrierStatusOf(numbers, order, workspaceId)
      await run(recordNumberOrder, { orderId, status, error, carrierOrderId }, cause)
    })
  })
}

const NOT_CONFIGURED = 'Number ordering is not configured here.'

/** Routes a pending number's calls to the platform, and records the result. */
export function connectNumber({ runExclusive }: NumberTools, numberId: string, cause: Causation): Promise<void> {
  const workspaceId = cause.meta.workspaceId ?? ''
  return runExclusive(`connect:${numberId}`, async ({ run, carrier, configuration, now }) => {
    const number = (await configuration(workspaceId)).numbers.get(numberId)
    if (number?.webhookStatus !== 'pending' || number.status === 'released') return
    const connect = async () => {
      if (carrier.numbers === null) return NOT_CONFIGURED
      try {
        // Connecting twice is harmless, so every attempt has a new command id.
        await carrier.numbers.connect({ commandId: `${numberId}:${now()}`, e164: number.e164 })
        return null
      } catch (error) {
        if (error instanceof CarrierRefused) return reasonOf(error)
        throw error
      }
    }
    await skipIfUnavailable(async () => run(reportNumberDelivery, { numberId, error: await connect() }, cause))
  })
}

/**
 * Steps of a number order on the wallet and at the carrier. The process that appended an event runs its step at once;
 * after a crash another worker does.
 */
export const numberOrders = defineReaction({
  name: 'number-orders',
  events: { ...orderEvents, NumberDeliveryRequested: numberEvents.NumberDeliveryRequested },
  from: 'start',
  doneBy: {
    NumberOrderCompleted: ['WalletCharged'],
    NumberOrderFailed: ['WalletReservationReleased'],
    NumberDeliveryRequested: ['NumberDeliveryReported'],
  },
  on: {
    NumberOrderPlaced: (tools: NumberTools, event) => advanceOrder(tools, event.data.order.id, event),
    NumberOrderCompleted: ({ run }, event) => {
      const { orderId, e164, setupCents: amountCents } = event.data
      return run(chargeSetupFee, { orderId, e164, amountCents, at: event.meta.at }, event)
    },
    NumberOrderFailed: ({ run }, event) => run(releaseSetupFee, { orderId: event.data.orderId }, event),
    NumberDeliveryRequested: (tools, event) => connectNumber(tools, event.data.numberId, event),
  },
})
