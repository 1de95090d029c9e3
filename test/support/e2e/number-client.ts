import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ApiClient, ApiResponse, Json } from './api-client.ts'
import { waitUntil } from './server.ts'

/** Searches and buys numbers on the console. */
export interface NumberClient {
  readonly search: (body?: Json) => Promise<ApiResponse>
  /** The first number found by a search. */
  readonly find: (query?: Json) => Promise<Json>
  /** The purchase body for a number found; with a new `requestId` unless `more` has one. */
  readonly purchaseBody: (found: Json, more?: Json) => Json
  readonly purchase: (body: Json) => Promise<ApiResponse>
  /** Finds a number and buys it. */
  readonly buy: (query?: Json, more?: Json) => Promise<ApiResponse>
  /** Buys a number that is delivered at once. */
  readonly buyDelivered: (more?: Json) => Promise<Json>
  readonly order: (id: string) => Promise<ApiResponse>
  /** The answer for an order once the order is completed or failed. */
  readonly finishedOrder: (id: string) => Promise<Json>
  /** Balance and reserved amount of the wallet, in cents. */
  readonly wallet: () => Promise<readonly [number, number]>
  /** What was taken from the balance since `before`, in cents. */
  readonly spentSince: (before: readonly [number, number]) => Promise<number>
  /** Waits until the wallet, funded with `fundCents`, has paid and reserved what the orders of the workspace cost. */
  readonly balanced: (fundCents: number) => Promise<void>
}

const SETUP_CENTS = 100

/** Creates the client of a session. */
export function createNumberClient(ask: ApiClient): NumberClient {
  const post = (path: string, body: Json) => ask(`/api/tracking/numbers/${path}`, { method: 'POST', body })
  const search = (body: Json = {}) => post('search', body)
  const find = async (query: Json = {}) => {
    const { status, text, body } = await search({ limit: 1, ...query })
    expect(status, text).toBe(200)
    expect(body.results, JSON.stringify(query)).toHaveLength(1)
    return body.results[0]
  }
  const purchaseBody = ({ e164, quoteToken }: Json, more: Json = {}) => ({
    e164,
    quoteToken,
    requestId: randomUUID(),
    ...more,
  })
  const purchase = (body: Json) => post('purchase', body)
  const buy = async (query: Json = {}, more: Json = {}) => purchase(purchaseBody(await find(query), more))
  const order = (id: string) => ask(`/api/tracking/numbers/orders/${id}`)
  const wallet = async (): Promise<readonly [number, number]> => {
    const { balanceCents, reservedCents } = (await ask('/api/tracking/wallet')).body
    return [balanceCents, reservedCents]
  }
  return {
    search,
    find,
    purchaseBody,
    purchase,
    buy,
    async buyDelivered(more) {
      const { status, text, body } = await buy({ endsWith: '3' }, more)
      expect(status, text).toBe(201)
      return body.number
    },
    order,
    finishedOrder: (id) =>
      waitUntil('The order is over', async () => {
        const { body } = await order(id)
        return ['completed', 'failed'].includes(body.order.status) && body
      }),
    wallet,
    async spentSince([before]) {
      const [balance] = await wallet()
      return before - balance
    },
    async balanced(fundCents) {
      const { data } = (await ask('/api/tracking/numbers/orders?pageSize=200')).body
      const cost = (...statuses: readonly string[]) =>
        SETUP_CENTS * data.filter(({ status }: Json) => statuses.includes(status)).length
      await waitUntil('Every order is where it will be', async () => {
        const [balance, reserved] = await wallet()
        return balance === fundCents - cost('completed') && reserved === cost('pending', 'submitted', 'review')
      })
    },
  }
}
