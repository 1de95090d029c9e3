import { type ApiResponse, type Json, sendRequest } from './api-client.ts'

/** What a visitor's browser sends beside the body. */
export interface PageHeaders {
  readonly origin?: string
  readonly referer?: string
  /** Address of the visitor, where the platform trusts the proxy that names it. */
  readonly from?: string
}

/** Requests of visitors' pages at the public routes. */
export interface VisitorClient {
  readonly lease: (body: Json, page?: PageHeaders) => Promise<ApiResponse>
  readonly heartbeat: (body: Json, page?: PageHeaders) => Promise<ApiResponse>
}

/** Creates the client of pages. Each request comes from an address of its own, unless it names one: none is over the limit. */
export function createVisitorClient(server: { readonly baseUrl: string }): VisitorClient {
  let addresses = 0
  const post =
    (path: string) =>
    (body: Json, page: PageHeaders = {}) => {
      addresses += 1
      const { from = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`, ...headers } = page
      const sent = { 'x-forwarded-for': from, ...headers }
      return sendRequest(`${server.baseUrl}/api/public/dni/${path}`, { method: 'POST', headers: sent, body })
    }
  return { lease: post('lease'), heartbeat: post('heartbeat') }
}

/** A new pool of a campaign, over HTTP, with numbers that are on it. */
export async function createPool(
  console: (path: string, sent?: Json) => Promise<ApiResponse>,
  settings: Json,
  numberIds: readonly string[] = [],
): Promise<{ readonly id: string; readonly publicKey: string }> {
  const created = await console('/api/tracking/pools', { method: 'POST', body: settings })
  if (created.status !== 201) throw new Error(created.text)
  const { id, publicKey } = created.body.pool
  for (const numberId of numberIds) {
    const body = { campaignId: settings.campaignId, poolId: id }
    const moved = await console(`/api/tracking/numbers/${numberId}`, { method: 'PATCH', body })
    if (moved.status !== 200) throw new Error(moved.text)
  }
  return { id, publicKey }
}
