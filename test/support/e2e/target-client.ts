import { expect } from 'vitest'
import type { ApiResponse, Json } from './api-client.ts'
import type { TenantClient } from './tenant-client.ts'

const PATH = '/api/tracking/targets'

/** Fields of a target that is a phone number, and of one that bids. */
export const NUMBER_TARGET = { type: 'number', endpoint: { destinationE164: '+13125550001' } }
export const BIDDER = {
  bidUrl: 'https://bids.example/ask',
  bidHeaders: { 'x-key': 'secret' },
  bidBodyTemplate: '{"a":1}',
}

/** Creates and changes the targets of a tenant on the console. */
export interface TargetClient {
  readonly create: (body: Json) => Promise<ApiResponse>
  /** Creates a target, by default a phone number, and returns it. */
  readonly created: (body?: Json) => Promise<Json>
  readonly change: (id: string, body: Json) => Promise<ApiResponse>
  readonly setStatus: (id: string, body: Json) => Promise<ApiResponse>
  readonly read: (id: string) => Promise<Json>
}

/** Creates the client; targets without a `buyerId` belong to the buyer `buyerId()`. */
export function createTargetClient({ console }: TenantClient, buyerId: () => string): TargetClient {
  let count = 0
  const create = (body: Json) => {
    count += 1
    return console(PATH, { method: 'POST', body: { name: `Target ${count}`, buyerId: buyerId(), ...body } })
  }
  return {
    create,
    async created(body = NUMBER_TARGET) {
      const answer = await create(body)
      expect(answer.status, answer.text).toBe(201)
      return answer.body.target
    },
    change: (id, body) => console(`${PATH}/${id}`, { method: 'PATCH', body }),
    setStatus: (id, body) => console(`${PATH}/${id}/status`, { method: 'POST', body }),
    read: async (id) => (await console(`${PATH}/${id}`)).body.target,
  }
}
