import { defineCommand } from '../../kernel/command.ts'
import { numberStreamId, simulatedNumber, simulatedNumberEvents } from './simulated-number.ts'

/** Orders a number, once for the command's id; `taken` in the event says that it was rented already. */
export const orderNumber = defineCommand({
  name: 'order-simulated-number',
  entity: simulatedNumber,
  input: simulatedNumberEvents.SimulatedNumberOrdered.omit({ taken: true }),
  id: ({ e164 }) => numberStreamId(e164),
  decide: (order, { orders, rented: taken }) =>
    orders.some(({ commandId }) => commandId === order.commandId)
      ? []
      : [{ type: 'SimulatedNumberOrdered', data: { ...order, taken } }],
})

/** Releases a number that is rented. */
export const releaseNumber = defineCommand({
  name: 'release-simulated-number',
  entity: simulatedNumber,
  input: simulatedNumberEvents.SimulatedNumberReleased,
  id: ({ e164 }) => numberStreamId(e164),
  decide: (data, { rented }) => (rented ? [{ type: 'SimulatedNumberReleased', data }] : []),
})
