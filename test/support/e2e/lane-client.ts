import { expect } from 'vitest'
import { type ApiResponse, type Json, UNKNOWN_ID } from './api-client.ts'
import type { TenantClient } from './tenant-client.ts'

/** A campaign and a publisher, by their ids. */
interface LanePlace {
  readonly campaignId: string
  readonly publisherId: string
}

/** Opens, changes, reads and closes the lanes of a tenant on the console; without a path, the lane of `place()`. */
export interface LaneClient {
  readonly path: (publisherId?: string, campaignId?: string) => string
  readonly put: (body?: Json, path?: string, headers?: Readonly<Record<string, string>>) => Promise<ApiResponse>
  /** Opens the lane; returns the answer, which has the key. */
  readonly opened: (body?: Json) => Promise<Json>
  readonly close: (path?: string) => Promise<ApiResponse>
  /** Switches the single-step ping. */
  readonly compat: (enabled: Json, path?: string) => Promise<ApiResponse>
  readonly read: (path?: string) => Promise<Json>
}

/** Creates the client of a tenant. */
export function createLaneClient({ console }: TenantClient, place: () => LanePlace): LaneClient {
  const path = (publisherId = place().publisherId, campaignId = place().campaignId) =>
    `/api/tracking/campaigns/${campaignId}/publishers/${publisherId}`
  const put: LaneClient['put'] = (body = {}, at = path(), headers = {}) => console(at, { method: 'PUT', body, headers })
  return {
    path,
    put,
    async opened(body) {
      const answer = await put(body)
      expect(answer.status, answer.text).toBe(201)
      return answer.body
    },
    close: (at = path()) => console(at, { method: 'DELETE' }),
    compat: (enabled, at = path()) => console(`${at}/compat`, { method: 'POST', body: { enabled } }),
    read: async (at = path()) => (await console(at)).body.lane,
  }
}

/** Creates a publisher on the console; returns its id. */
export async function createPublisher({ console }: TenantClient): Promise<string> {
  const { body } = await console('/api/tracking/publishers', { method: 'POST', body: { name: 'Blue Leads' } })
  return body.publisher.id
}

/** Ids of publishers that a tenant does not have: unknown, malformed, another workspace's. */
export const absentPublishers = (foreign: string): readonly string[] => [UNKNOWN_ID, 'x', foreign]
