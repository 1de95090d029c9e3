import type { ApiRoute } from '../../../src/ports/api.ts'
import { type ApiClient, createApiClient, type Json } from './api-client.ts'
import { waitUntil } from './server.ts'
import type { Tenant } from './world.ts'

/** Ids of one record of each kind, by the path segment that names the kind. */
export type Records = Readonly<Record<string, string>>

/** Sends a request and returns its body. @throws Error when it fails */
async function requireSuccess(ask: ApiClient, method: string, path: string, body: Json): Promise<Json> {
  const answer = await ask(path, { method, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

const newId = () => crypto.randomUUID()

/** Creates one record of each kind in a workspace, over HTTP as its owner. */
export async function createRecords(baseUrl: string, tenant: Tenant): Promise<Records> {
  const ask = createApiClient(() => baseUrl, tenant.session)
  const post = (path: string, body: Json = {}) => requireSuccess(ask, 'POST', `/api/tracking/${path}`, body)
  const put = (path: string, body: Json = {}) => requireSuccess(ask, 'PUT', `/api/tracking/${path}`, body)
  const { buyer } = await post('buyers', { name: 'Furnished buyer' })
  const destinationE164 = '+13125550199'
  const { target } = await post('targets', {
    name: 'Furnished target',
    type: 'number',
    buyerId: buyer.id,
    endpoint: { destinationE164 },
  })
  const { campaign } = await post('campaigns', { name: 'Furnished campaign', verticalId: 'roofing' })
  const { publisher } = await post('publishers', { name: 'Furnished publisher' })
  const person = (name: string) => ({ email: `${newId()}@furnished.example`, name })
  const portal = await post(`publishers/${publisher.id}/users`, person('Furnished portal user'))
  const accept = async (token: string) => {
    const body = { token, password: newId() }
    return (await requireSuccess(ask, 'POST', '/api/auth/invitations/accept', body)).user
  }
  const portalUser = await accept(portal.token)
  const open = await post(`publishers/${publisher.id}/users`, person('Furnished portal invitation'))
  const { lane } = await put(`campaigns/${campaign.id}/publishers/${publisher.id}`)
  await put(`campaigns/${campaign.id}/routes/${target.id}`)
  const { vertical } = await post('verticals', { name: 'Furnished vertical', short: 'Furn' })
  const { apiKey } = await post('api-keys', { name: 'Furnished key', scopes: ['calls:read'] })
  const { pool } = await post('pools', { name: 'Furnished pool', campaignId: campaign.id })
  const { blockedCaller } = await post('blocked-callers', { callerNumber: '+13105550177' })
  const { results } = await post('numbers/search', { limit: 1 })
  const [{ e164, quoteToken }] = results
  const { order, number } = await post('numbers/purchase', { e164, quoteToken, requestId: newId() })
  const invite = (name: string) => post('users', { ...person(name), role: 'admin' })
  const { token } = await invite('Furnished user')
  const user = await accept(token)
  const { invitation } = await invite('Furnished invitation')
  const placed = await requireSuccess(ask, 'POST', '/api/sandbox/calls', {
    to: await createLine(tenant),
    mode: 'instant',
  })
  const { call } = (await ask(`/api/tracking/calls/${placed.callId}`)).body
  const mix = { ping: 1, ghost: 1 }
  const load = await requireSuccess(ask, 'POST', '/api/sandbox/load', { calls: 1, perSecond: 1, mix })
  const bidder = { name: 'Furnished bidder', latencyMs: 0, bidCents: 100, destination: destinationE164 }
  const { url } = await requireSuccess(ask, 'POST', '/api/sandbox/bidders', bidder)
  const receiver = await requireSuccess(ask, 'POST', '/api/sandbox/receivers', {})
  const endpoint = { name: 'Furnished webhook', url: receiver.url, eventPattern: '*' }
  const { webhook } = await post('webhooks', endpoint)
  const { delivery } = await post(`webhooks/${webhook.id}/test`)
  const auction = await createAuction(baseUrl, tenant, ask, url)
  return {
    buyers: buyer.id,
    targets: target.id,
    campaigns: campaign.id,
    publishers: publisher.id,
    keys: lane.key.id,
    verticals: vertical.id,
    'api-keys': apiKey.id,
    pools: pool.id,
    'blocked-callers': blockedCaller.id,
    numbers: number.id,
    orders: order.id,
    users: user.id,
    invitations: invitation.id,
    'publisher-users': portalUser.id,
    'publisher-invitations': open.invitation.id,
    calls: placed.callId,
    load: load.id,
    webhooks: webhook.id,
    'webhook-deliveries': delivery.id,
    receivers: receiver.id,
    in: receiver.id,
    bid: url.slice(url.lastIndexOf('/') + 1),
    ...auction,
    recordings: call.recordings[0].id,
    workspaces: tenant.workspaceId,
    projections: 'buyers',
  }
}

async function createLine(tenant: Tenant): Promise<string> {
  const target = await tenant.target(await tenant.buyer({ name: 'Line buyer' }))
  const publisherId = await tenant.publisher({ name: 'Line publisher' })
  const { e164 } = await tenant.line({ name: 'Furnished line' }, [target], { publisherId })
  return e164
}

/** A ping that a bidder won, on a lane with a single-step URL. */
async function createAuction(baseUrl: string, tenant: Tenant, ask: ApiClient, bidUrl: string): Promise<Records> {
  const buyerId = await tenant.buyer({ name: 'Auction buyer' })
  const target = await tenant.target(buyerId, {
    name: 'Auction bidder',
    type: 'rtb',
    rtb: { bidUrl },
    revenueCents: undefined,
  })
  const publisherId = await tenant.publisher({ name: 'Auction publisher' })
  const { campaignId } = await tenant.line({ name: 'Auction line' }, [target], { publisherId })
  const lane = `/api/tracking/campaigns/${campaignId}/publishers/${publisherId}`
  const { compat } = await requireSuccess(ask, 'POST', `${lane}/compat`, { enabled: true })
  const { bidId } = (await createApiClient(() => baseUrl, null)(new URL(compat.url).pathname)).body
  let bids: readonly Json[] = []
  await waitUntil('The ping is in the ledger', async () => {
    bids = (await ask(`/api/tracking/pings/${bidId}`)).body.bids ?? []
    return bids.length > 0
  })
  return { pings: bidId, bids: bids[0]?.id, compat: compat.url.slice(compat.url.lastIndexOf('/') + 1) }
}

/** Kinds of parameters whose preceding path segment does not name the kind. */
const KIND_OF_PARAMETER: Readonly<Record<string, string>> = {
  publisherId: 'publishers',
  targetId: 'targets',
  keyId: 'keys',
  bidId: 'bids',
  userId: 'publisher-users',
  invitationId: 'publisher-invitations',
}

/** The kinds of record that a route's path names, in order. */
export function recordKindsOf({ path }: Pick<ApiRoute, 'path'>): readonly string[] {
  const parts = path.split('/')
  return parts.flatMap((part, index) => {
    if (!part.startsWith(':')) return []
    const kind = KIND_OF_PARAMETER[part.slice(1)] ?? parts[index - 1]
    return kind ? [kind] : []
  })
}

/** A route's path with record ids for its parameters. @throws Error when there is no record of a kind */
export function pathOf(route: Pick<ApiRoute, 'path'>, records: Records): string {
  const kinds = recordKindsOf(route)
  let next = 0
  return route.path
    .split('/')
    .map((part) => {
      if (!part.startsWith(':')) return part
      const kind = kinds[next++] ?? ''
      const id = records[kind]
      if (id === undefined) throw new Error(`${route.path}: no ${kind} is furnished`)
      return id
    })
    .join('/')
}
