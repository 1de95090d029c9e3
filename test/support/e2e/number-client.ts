import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ApiClient, ApiResponse, Json } from './api-client.ts'

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
}

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
    order: (id) => ask(`/api/tracking/numbers/orders/${id}`),
  }
}
