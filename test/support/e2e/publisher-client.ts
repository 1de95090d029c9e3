import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { type ApiClient, type ApiResponse, createApiClient, type Json } from './api-client.ts'
import type { PublisherLane } from './publisher-lane.ts'
import { type Server, waitUntil } from './server.ts'
import type { TenantClient } from './tenant-client.ts'

/** Sends a publisher's pings and posts with the key of its lane. */
export interface PublisherClient {
  readonly send: ApiClient
  readonly ping: (body?: Json, headers?: Readonly<Record<string, string>>) => Promise<ApiResponse>
  readonly post: (auctionId: string, callerNumber: Json, more?: Json) => Promise<ApiResponse>
  /** Pings, which must get an offer; returns the answer. */
  readonly won: (body?: Json) => Promise<Json>
  /** Posts, which must be accepted; returns the answer. */
  readonly accepted: (auctionId: string, callerNumber: Json) => Promise<Json>
  /** Pings, which must get none; returns code and word of the reason. */
  readonly noBid: (body?: Json) => Promise<readonly [number, string]>
}

/** Creates the client of a lane; `key` is the routing key of the lane unless another is given. */
export function createPublisherClient(server: Pick<Server, 'baseUrl'>, key: () => string | null): PublisherClient {
  const send = createApiClient(() => server.baseUrl, key)
  const ping: PublisherClient['ping'] = (body = {}, headers = {}) =>
    send('/api/rtb/v1/ping', { method: 'POST', body, headers })
  const post: PublisherClient['post'] = (auctionId, callerNumber, more = {}) =>
    send('/api/rtb/v1/post', { method: 'POST', body: { auctionId, callerNumber, ...more } })
  return {
    send,
    ping,
    post,
    async won(body) {
      const answer = await ping(body)
      expect(answer.body?.outcome, answer.text).toBe('won')
      return answer.body
    },
    async accepted(auctionId, callerNumber) {
      const answer = await post(auctionId, callerNumber)
      expect(answer.body?.outcome, answer.text).toBe('accepted')
      return answer.body
    },
    async noBid(body) {
      const answer = await ping(body)
      expect([answer.status, answer.body?.outcome], answer.text).toEqual([200, 'no_bid'])
      return [answer.body.reason.code, answer.body.reason.reason]
    },
  }
}

/** The header that signs a body at an instant (seconds since the epoch). */
export function signatureOf(secret: string, body: string, t: number = Math.floor(Date.now() / 1_000)): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

/** Changes a publisher's key, lane, campaign and publisher on the console. Each must succeed. */
export function createLaneDesk({ console }: TenantClient) {
  const sent = async (method: string, path: string, body: Json = {}) => {
    const answer = await console(path, { method, ...(method === 'GET' || method === 'DELETE' ? {} : { body }) })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  type Lane = Pick<PublisherLane, 'campaignId' | 'publisherId' | 'keyId'>
  const lanePath = ({ campaignId, publisherId }: Lane) =>
    `/api/tracking/campaigns/${campaignId}/publishers/${publisherId}`
  const keyPath = ({ keyId }: Lane) => `/api/publishers/keys/${keyId}`
  return {
    key: async (lane: Lane) => (await sent('GET', keyPath(lane))).key,
    changeKey: (lane: Lane, body: Json) => sent('PATCH', keyPath(lane), body),
    /** Rotates the routing key; returns the new one. */
    rotateKey: async (lane: Lane, graceMinutes: number): Promise<string> =>
      (await sent('POST', `${keyPath(lane)}/rotate`, { graceMinutes })).routingKey,
    rotateSigningSecret: async (lane: Lane): Promise<string> =>
      (await sent('POST', `${keyPath(lane)}/signing-secret/rotate`)).signingSecret,
    /** Rotates the single-step URL; returns the new one. */
    rotateCompat: async (lane: Lane): Promise<string> =>
      (await sent('POST', `${keyPath(lane)}/compat-token/rotate`)).compat.url,
    /** Switches the single-step ping; returns its URL. */
    compat: async (lane: Lane, enabled = true): Promise<string> =>
      (await sent('POST', `${lanePath(lane)}/compat`, { enabled })).compat.url,
    changeLane: (lane: Lane, body: Json) => sent('PUT', lanePath(lane), body),
    closeLane: (lane: Lane) => sent('DELETE', lanePath(lane)),
    changeCampaign: ({ campaignId }: Lane, body: Json) => sent('PATCH', `/api/tracking/campaigns/${campaignId}`, body),
    campaignStatus: ({ campaignId }: Lane, status: string) =>
      sent('POST', `/api/tracking/campaigns/${campaignId}/status`, { status }),
    publisherStatus: ({ publisherId }: Lane, status: string) =>
      sent('POST', `/api/tracking/publishers/${publisherId}/status`, { status, note: 'By hand' }),
    changeTarget: (targetId: string, body: Json) => sent('PATCH', `/api/tracking/targets/${targetId}`, body),
    targetStatus: (targetId: string, status: string) =>
      sent('POST', `/api/tracking/targets/${targetId}/status`, { status }),
    removeRoute: ({ campaignId }: Lane, targetId: string) =>
      sent('DELETE', `/api/tracking/campaigns/${campaignId}/routes/${targetId}`),
    /** Voids a bid, once it can be read. */
    async voidBid(bidId: string, body: Json = {}) {
      const path = `/api/tracking/pings/${bidId}`
      const isRead = async () => (await console(`${path}?direction=outbound`)).status === 200
      await waitUntil('The bid can be read', isRead)
      return sent('POST', `${path}/void`, body)
    },
    assign: (numberId: string, body: Json) => sent('PATCH', `/api/tracking/numbers/${numberId}`, body),
    block: async (callerNumber: string): Promise<string> =>
      (await sent('POST', '/api/tracking/blocked-callers', { callerNumber })).blockedCaller.id,
    unblock: (id: string) => sent('DELETE', `/api/tracking/blocked-callers/${id}`),
    /** Creates a target with a bidder on a campaign's plan, asked at a URL; returns the target's id. */
    async bidder(lane: Lane, buyerId: string, name: string, bidUrl: string, { priority = 1, ...rtb }: Json = {}) {
      const made = await sent('POST', '/api/tracking/targets', { name, type: 'rtb', buyerId, rtb: { bidUrl, ...rtb } })
      const { id } = made.target
      await sent('POST', `/api/tracking/targets/${id}/status`, { status: 'active' })
      await sent('PUT', `/api/tracking/campaigns/${lane.campaignId}/routes/${id}`, { priority })
      return id
    },
    /** The URL of a simulated bidder. */
    async sandboxBidder(settings: Json): Promise<string> {
      const body = { name: 'Simulated', latencyMs: 0, bidCents: 3_000, destination: '+13125550188', ...settings }
      return (await sent('POST', '/api/sandbox/bidders', body)).url
    },
  }
}
export type LaneDesk = ReturnType<typeof createLaneDesk>
