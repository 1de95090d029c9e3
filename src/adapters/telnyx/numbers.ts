import type { Telnyx } from 'telnyx'
import { z } from 'zod'
import { type CarrierNumbers, type CarrierOrder, CarrierRefused } from '../../ports/carrier-numbers.ts'
import { openClient, request, requestIfFound, type TelnyxAccount } from './client.ts'
import { heldNumber, orderResponse, type TelnyxOrder, telnyxAvailableNumbers, telnyxOrder } from './responses.ts'
import { filterOf, offerOf } from './search.ts'

/** Telnyx's maximum page size. */
const PAGE = 250

/** An order as the platform knows it. One with missing requirements waits for a person. */
function orderOf({ id, status, requirements_met: complete }: TelnyxOrder): CarrierOrder {
  const carrierOrderId = id
  if (status === 'success') return { carrierOrderId, status: 'completed', error: null }
  if (status === 'failure') return { carrierOrderId, status: 'failed', error: 'The carrier could not fill the order.' }
  return { carrierOrderId, status: complete === false ? 'review' : 'submitted', error: null }
}

const isGone = (status: string | null | undefined) => status === 'deleted' || status === 'ported-out'

/** All rows of a paged list. */
async function rowsOf<Row>(pages: () => AsyncIterable<unknown>, row: z.ZodType<Row>): Promise<readonly Row[]> {
  const everyRow = async () => {
    const rows: unknown[] = []
    for await (const one of pages()) rows.push(one)
    return rows
  }
  return request(everyRow, (rows) => z.array(row).parse(rows))
}

/** An order that was sent before: our command id is its reference; null when there is none. */
async function findSentOrder(client: Telnyx, commandId: string): Promise<TelnyxOrder | null> {
  const filter = { customer_reference: commandId }
  const orders = await rowsOf(() => client.numberOrders.list({ filter, 'page[size]': PAGE }), telnyxOrder)
  return orders.find(({ customer_reference }) => customer_reference === commandId) ?? null
}

/** The account's own record of a number; null when it has none. */
async function findHeldNumber(client: Telnyx, e164: string) {
  const filter = { phone_number: e164.slice(1) }
  const numbers = await rowsOf(() => client.phoneNumbers.list({ filter, 'page[size]': PAGE }), heldNumber)
  return numbers.find(({ phone_number, status }) => phone_number === e164 && !isGone(status)) ?? null
}

/** Telnyx's numbers: search, order, connect to our voice application, release. An order bears our command id. */
export function createTelnyxNumbers(account: TelnyxAccount): CarrierNumbers {
  const client: Telnyx = openClient(account)
  const { connectionId } = account

  return {
    search: (query) =>
      request(
        () => client.availablePhoneNumbers.list({ filter: filterOf(query) }),
        (answer) => offerOf(query, telnyxAvailableNumbers.parse(answer)),
      ),
    async placeOrder({ commandId, e164 }) {
      const before = await findSentOrder(client, commandId)
      if (before) return orderOf(before)
      const body = {
        phone_numbers: [{ phone_number: e164 }],
        connection_id: connectionId,
        customer_reference: commandId,
      }
      return request(
        () => client.numberOrders.create(body),
        (answer) => orderOf(orderResponse.parse(answer).data),
      )
    },
    async findOrder({ commandId, carrierOrderId }) {
      if (carrierOrderId === null) {
        const before = await findSentOrder(client, commandId)
        return before && orderOf(before)
      }
      return requestIfFound(
        () => client.numberOrders.retrieve(carrierOrderId),
        (answer) => orderOf(orderResponse.parse(answer).data),
      )
    },
    async connect({ e164 }) {
      const number = await findHeldNumber(client, e164)
      if (!number) throw new CarrierRefused(`The carrier does not hold ${e164} for this account.`)
      await request(
        () => client.phoneNumbers.update(number.id, { connection_id: connectionId }),
        () => undefined,
      )
    },
    async release({ e164 }) {
      const number = await findHeldNumber(client, e164)
      if (!number) return
      await requestIfFound(
        () => client.phoneNumbers.delete(number.id),
        () => undefined,
      )
    },
  }
}
