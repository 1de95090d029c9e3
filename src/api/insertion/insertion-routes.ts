import { z } from 'zod'
import { leasePageOf } from '../../domain/insertion/lease-page.ts'
import { isOriginAllowed } from '../../domain/insertion/origin-rule.ts'
import { rotationOf, shownNumber } from '../../domain/insertion/rotation.ts'
import { LEASE } from '../../domain/shared/limits.ts'
import { sourceOf } from '../../kernel/ip-address.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import type { ApiRefusal, ApiRequest, ApiResponse, ApiRoute, RawBody } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Leases } from '../../reactions/leases.ts'
import type { RatesLimiter } from '../../runtime/rates/rates-limiter.ts'
import { noParams } from '../no-params.ts'
import { heartbeatAnswer, heartbeatBody, leaseAnswer, leaseBody, readHeartbeat, readLease } from './lease-request.ts'
import type { PoolPlaces } from './pool-places.ts'

/** What the public routes of number insertion are built over. */
export interface InsertionPorts {
  readonly places: PoolPlaces
  readonly leases: Leases
  readonly rates: RatesLimiter
  /** The page snippet. */
  readonly snippet: () => string
  readonly clock: Clock
}

const RATES = [{ limit: LEASE.requestsPerMinute, windowMs: 60_000 }]
const TOO_MANY = new TextEncoder().encode(
  'Too many requests from this address; retry after the seconds in Retry-After.\n',
)

/** How long browsers keep the snippet (seconds): an hour (Document 2). */
const SNIPPET_CACHE = 'public, max-age=3600'

/** A header that a request has once; undefined without it. */
function headerIn({ headers }: RawBody, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

const isCovered = (domains: readonly string[], body: RawBody) =>
  isOriginAllowed(domains, { origin: headerIn(body, 'origin'), referer: headerIn(body, 'referer') })

const OK = { status: 200, position: null } as const
const dni = { surface: 'public', scope: null, write: false, query: noParams, params: noParams } as const

/** The public routes of number insertion (Document 2): the snippet, leases and heartbeats. */
export function insertionRoutes({ places, leases, rates, snippet, clock }: InsertionPorts): readonly ApiRoute[] {
  /** Counts a request against the rate of its source, before anything of it is read. */
  async function onArrival({ ip }: { readonly ip: string }): Promise<ApiResponse | null> {
    const { allowed, nextMs } = await rates.consume(`dni:${sourceOf(ip)}`, RATES)
    if (allowed) return null
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'retry-after': String(Math.max(1, Math.ceil(nextMs / 1_000))),
    }
    return { status: 429, body: TOO_MANY, headers, position: null }
  }

  async function lease(body: RawBody, requestId: string): Promise<ApiResponse | Refusal> {
    const sent = readLease(body.bytes)
    if (isRefusal(sent)) return sent
    const place = await places.byKey(sent.publicKey)
    if (!place) return refuse('public-pool-not-found')
    const { pool } = place
    if (!isCovered(pool.domains, body)) return refuse('origin-not-allowed')
    if (pool.status === 'paused') return refuse('pool-paused')
    const page = leasePageOf(sent.page, pool.params)
    const granted = await leases.lease(place, { visitorId: sent.visitorId, page, requestId })
    if (isRefusal(granted)) return granted
    const { number, visitorId, sessionId, overflow } = granted
    const { ttlSeconds } = pool
    return { ...OK, body: { number: shownNumber(number, pool.display), visitorId, sessionId, ttlSeconds, overflow } }
  }

  async function heartbeat(body: RawBody): Promise<ApiResponse | Refusal> {
    const sent = readHeartbeat(body.bytes)
    if (isRefusal(sent)) return sent
    const known = await leases.sessionOf(sent.sessionId, sent.visitorId)
    if (!known) return refuse('session-not-found')
    const { session } = known
    const place = await places.byId(session.workspaceId, session.poolId)
    if (place && !isCovered(place.pool.domains, body)) return refuse('origin-not-allowed')
    // A number that takes no calls any more is not kept: the visitor gets another one.
    const isLeasing =
      place?.pool.status === 'active' && rotationOf(place.configured, session.poolId).has(session.numberId)
    const ttlSeconds = place?.pool.ttlSeconds ?? session.ttlSeconds
    const until = isLeasing ? await leases.heartbeat(known, ttlSeconds) : null
    const expiresAt = new Date(until ?? (await leases.endOf(known)) ?? clock.now()).toISOString()
    return { ...OK, body: { ok: true, expired: until === null, ttlSeconds, expiresAt } }
  }

  const answerTo =
    (answer: (body: RawBody, requestId: string) => Promise<ApiResponse | ApiRefusal>) =>
    ({ body, requestId }: ApiRequest) =>
      answer(body as RawBody, requestId)

  return [
    {
      ...dni,
      direct: { onArrival },
      raw: true,
      method: 'POST',
      path: '/api/public/dni/lease',
      name: 'lease-number',
      summary: 'Lease a number to a visitor',
      body: leaseBody,
      responses: { 200: leaseAnswer },
      rejects: ['origin-not-allowed', 'public-pool-not-found', 'pool-paused', 'pool-empty'],
      run: answerTo(lease),
    },
    {
      ...dni,
      direct: { onArrival },
      raw: true,
      method: 'POST',
      path: '/api/public/dni/heartbeat',
      name: 'keep-lease',
      summary: 'Keep a lease alive',
      body: heartbeatBody,
      responses: { 200: heartbeatAnswer },
      rejects: ['origin-not-allowed', 'session-not-found'],
      run: answerTo(heartbeat),
    },
    {
      ...dni,
      direct: { onArrival, text: snippet, cacheControl: SNIPPET_CACHE },
      method: 'GET',
      path: '/api/public/dni/svcdni.js',
      name: 'page-snippet',
      summary: 'Get the page snippet',
      contentType: 'application/javascript',
      responseHeaders: ['etag'],
      body: null,
      responses: { 200: z.string() },
      rejects: [],
      run: async () => ({ ...OK, body: new TextEncoder().encode(snippet()) }),
    },
  ]
}
