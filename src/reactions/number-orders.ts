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
import type { Causation, FlowTools } from './tools.ts'

/** What orders of numbers need beside a call's flow. */
export interface NumberTools extends FlowTools {
  /** The workspace as it stands. */
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
  /** Does a piece of work unless another does it already, here (then it waits for that) or in another process. */
  readonly runExclusive: (what: string, work: (tools: NumberTools) => Promise<unknown>) => Promise<void>
}

const reasonOf = (error: Error) => error.message.slice(0, NUMBER.statusNote) || 'The carrier gave no reason.'

/** What the carrier says of an order: it is asked for the number once, and how far it is from then on. */
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

/** Leaves what a carrier that is away could not do to the due work, which comes by again. */
async function skipIfUnavailable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CarrierUnavailable)) throw error
  }
}

/**
 * Takes an order as far as it will go now: the fee is put aside, the carrier is asked, and what it says is recorded. Each
 * step is done once however often this is, so that whoever comes after a crash begins at the beginning.
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

/** Points a number that waits for it at the platform, and records how that went. */
export function connectNumber({ runExclusive }: NumberTools, numberId: string, cause: Causation): Promise<void> {
  const workspaceId = cause.meta.workspaceId ?? ''
  return runExclusive(`connect:${numberId}`, async ({ run, carrier, configuration, now }) => {
    const number = (await configuration(workspaceId)).numbers.get(numberId)
    if (number?.webhookStatus !== 'pending' || number.status === 'released') return
    const connect = async () => {
      if (carrier.numbers === null) return NOT_CONFIGURED
      try {
        // Pointing a number twice is harmless: each time is a command of its own.
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
 * What follows from the events of an order, on the wallet and at the carrier. Whoever appended them goes on at once;
 * after a crash whoever is alive does.
 */
export const numberOrders = defineReaction({
  name: 'number-orders',
  events: { ...orderEvents, NumberDeliveryRequested: numberEvents.NumberDeliveryRequested },
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
