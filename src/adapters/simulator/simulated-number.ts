import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { instant } from '../../kernel/wire.ts'
import type { CarrierOrder } from '../../ports/carrier-numbers.ts'
import { NUMBER_ENDINGS } from '../../ports/simulated-numbers.ts'

/** These names are the storage format. */
export const simulatedNumberEvents = {
  /** `taken`: another customer rented the number already, so the order fails. */
  SimulatedNumberOrdered: z.object({
    commandId: z.string(),
    e164: z.string(),
    customerReference: z.string().nullable(),
    taken: z.boolean(),
    at: instant,
  }),
  SimulatedNumberReleased: z.object({ commandId: z.string(), e164: z.string() }),
}

type OrderedNumber = z.infer<typeof simulatedNumberEvents.SimulatedNumberOrdered>

/** The outcome of an order. */
interface OrderFate {
  readonly status: CarrierOrder['status']
  /** Milliseconds for which the order is pending first. */
  readonly afterMs: number
  readonly error: string | null
}

const DELIVERED: OrderFate = { status: 'completed', afterMs: 0, error: null }
const GONE: OrderFate = { status: 'failed', afterMs: 0, error: 'The number is no longer available.' }
const FILLING_MS = 2_000

/** Outcomes of orders by the number's last four digits; every other number is delivered at once. */
const FATES: Readonly<Record<string, OrderFate>> = {
  [NUMBER_ENDINGS.delayed]: { ...DELIVERED, afterMs: FILLING_MS },
  [NUMBER_ENDINGS.review]: { status: 'review', afterMs: 0, error: null },
  [NUMBER_ENDINGS.gone]: GONE,
  [NUMBER_ENDINGS.failing]: { status: 'failed', afterMs: FILLING_MS, error: 'The number could not be activated.' },
  [NUMBER_ENDINGS.held]: { status: 'failed', afterMs: 0, error: 'The number is held by another customer.' },
}

/** The digits that decide the outcome of a number's order. */
export function lastDigitsOf(e164: string): string {
  return e164.slice(-4)
}

function fateOf({ e164, taken }: OrderedNumber): OrderFate {
  return taken ? GONE : (FATES[lastDigitsOf(e164)] ?? DELIVERED)
}

/** The state of an order at an instant (ms). */
export function orderAt(order: OrderedNumber, now: number): CarrierOrder {
  const { status, afterMs, error } = fateOf(order)
  const carrierOrderId = `sim_${order.e164.slice(1)}_${order.commandId}`
  const pending = now < Date.parse(order.at) + afterMs
  return pending ? { carrierOrderId, status: 'pending', error: null } : { carrierOrderId, status, error }
}

export interface SimulatedNumberState {
  readonly orders: readonly OrderedNumber[]
  /** Whether a customer rents the number or has a pending order for it. */
  readonly rented: boolean
}

/** A number of the simulated carrier, stream `simulator-<pp>-number_<digits>`. */
export const simulatedNumber = defineEntity({
  name: 'simulator',
  version: 1,
  events: simulatedNumberEvents,
  initial: { orders: [], rented: false } as SimulatedNumberState,
  evolve: {
    SimulatedNumberOrdered: ({ orders, rented }, { data }) => ({
      orders: [...orders, data],
      rented: rented || fateOf(data).status !== 'failed',
    }),
    SimulatedNumberReleased: (state) => ({ ...state, rented: false }),
  },
})

/** The id of a number's stream. */
export function numberStreamId(e164: string): string {
  return `number_${e164.slice(1)}`
}
