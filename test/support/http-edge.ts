import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { type HttpOptions, type HttpServer, openHttpServer, type Sample } from '../../src/adapters/http/server.ts'
import { LARGEST_PAGE_SIZE, PAGE_SIZE } from '../../src/domain/limits.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import {
  cap,
  cents,
  id,
  pageQuery,
  queryBoolean,
  queryInstant,
  queryInteger,
  sortBy,
  sortDirection,
} from '../../src/kernel/wire.ts'
import type { ApiRequest, ApiRoute, Authenticate, Principal } from '../../src/ports/api.ts'
import { LogUnavailable } from '../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../src/ports/read-store.ts'
import { createRateLimiter } from '../../src/runtime/rate-limiter.ts'

/** A clock that stands still, and wakes nobody. */
export const still = { now: () => 0, at: () => () => undefined }
/** The id of the call that is there. */
export const known = '0198a000-0000-7000-8000-000000000001'
/** The id of a call that is not. */
export const missing = '0198a000-0000-7000-8000-000000000002'

const principal: Principal = {
  actor: { type: 'key', id: 'k', name: 'Key' },
  tenant: { workspaceId: known, timezone: 'UTC' },
  credentialId: 'key:k',
  ratePerMinute: null,
}

const authenticate: Authenticate = async ({ surface, scope }, { bearer }) => {
  if (surface === 'public') return { ...principal, tenant: null }
  if (bearer === null) return refuse('missing-key')
  if (bearer !== 'good') return refuse('invalid-key')
  return scope === 'pings:read' ? refuse('insufficient-scope', { required: [scope], held: [] }) : principal
}

/** What the routes were asked since the test began. */
export const heard: ApiRequest[] = []
/** What the call that is there is answered by. */
export const bytes = new TextEncoder().encode('{"prebuilt":true,"text":"é"}')

/** A route that answers that all is well, but for what is said of it. */
export function route(change: Partial<ApiRoute> & Pick<ApiRoute, 'path' | 'name'>): ApiRoute {
  return {
    method: 'GET',
    surface: 'rest',
    scope: 'calls:read',
    write: change.method !== undefined,
    summary: 'A route.',
    params: z.object({}),
    query: z.object({}),
    body: null,
    responses: { 200: z.object({ ok: z.boolean() }) },
    rejects: [],
    run: async (request) => {
      heard.push(request)
      return { status: 200, body: { ok: true }, position: null }
    },
    ...change,
  }
}

const thing = z.object({
  name: z.string().min(2).max(120),
  dailyCap: cap(1_000_000).optional(),
  priceCents: cents.optional(),
  status: z.enum(['live', 'paused']).optional(),
  endpoint: z.object({ ringSeconds: z.int().min(5).max(120) }).optional(),
  places: z
    .array(z.object({ state: z.string().length(2) }))
    .max(2)
    .optional(),
  either: z.union([z.string(), z.object({ text: z.string() })]).optional(),
  tags: z.record(z.string(), z.string()).nullable().optional(),
})

const listQuery = z.object({
  ...pageQuery({ size: PAGE_SIZE, largest: LARGEST_PAGE_SIZE }),
  sort: sortBy(['startedAt', 'talkSeconds'], 'startedAt'),
  dir: sortDirection,
  minTalk: queryInteger({ min: 0, max: 86_400 }).optional(),
  hasRecording: queryBoolean.optional(),
  from: queryInstant.optional(),
  campaignId: id.optional(),
})

const thrower = (name: string, error: unknown) =>
  route({ path: `/api/v1/${name}`, name, run: async () => Promise.reject(error) })

const routes: readonly ApiRoute[] = [
  route({ path: '/api/v1/things', name: 'list-things', query: listQuery }),
  route({ path: '/api/v1/things', name: 'make-thing', method: 'POST', body: thing }),
  route({
    path: '/api/v1/optional',
    name: 'touch-things',
    method: 'POST',
    body: z.object({ note: z.string().optional() }),
  }),
  route({
    path: '/api/v1/things/:id/reset',
    name: 'reset-thing',
    method: 'POST',
    params: z.object({ id }),
    rejects: ['call-not-found'],
  }),
  route({
    path: '/api/v1/calls/:id',
    name: 'read-call',
    params: z.object({ id }),
    query: z.object({ depth: queryInteger({ min: 1 }).optional() }),
    rejects: ['call-not-found', 'conflict'],
    run: async ({ params }) => {
      const { id: asked } = z.object({ id }).parse(params)
      if (asked === missing) return refuse('call-not-found')
      return asked === known
        ? { status: 200, body: bytes, position: 7, headers: { 'cache-control': 'no-store' } }
        : refuse('conflict', { status: 'draft' }, 'The call is a draft.')
    },
  }),
  route({ path: '/api/v1/pings', name: 'list-pings', scope: 'pings:read', method: 'POST', body: thing }),
  route({
    path: '/api/public/lease',
    name: 'lease',
    surface: 'public',
    scope: null,
    method: 'POST',
    body: z.object({ pool: z.string() }),
  }),
  route({
    path: '/api/v1/gone',
    name: 'remove-thing',
    method: 'DELETE',
    run: async () => ({ status: 204, body: null, position: 9 }),
  }),
  thrower('fault', new Error('the secret recipe of +13125550123')),
  thrower('log-away', new LogUnavailable('connection to the log at 10.0.0.9 refused')),
  thrower('store-away', new StoreUnavailable('no store')),
]

/** What was logged. */
export const lines: string[] = []
/** What was observed. */
export const samples: Sample[] = []
/** The options of the server under test. */
export const options: HttpOptions = {
  title: 'Test API',
  version: '1.2.3',
  routes,
  authenticate,
  readiness: async () => ({ ready: false, problems: ['call-log lags by 6 s.'] }),
  metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'up 1\n' }),
  metricsToken: 'scrape-me',
  position: () => 5,
  log: openLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } }),
  clock: still,
  random: {
    bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    seed: () => 1,
    uuid: () => crypto.randomUUID(),
  },
  trustProxy: false,
  limiter: createRateLimiter(still),
  unavailableAfterSeconds: 3,
  pressure: {},
  observe: (sample) => void samples.push(sample),
}

/** The credential that is good. */
export const bearer = { authorization: 'Bearer good' }

/** The JSON of an answer, for looking into. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects to find.
export const jsonOf = (response: Response): Promise<any> => response.json()

/** The edge under test, opened before the first test of a file and closed after its last. */
export function httpEdge() {
  let server: HttpServer
  let base: string

  beforeAll(async () => {
    server = await openHttpServer(options)
    base = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
  })
  afterAll(() => server.close(1_000))
  beforeEach(() => {
    heard.length = 0
  })

  async function get(path: string, headers: Record<string, string> = bearer) {
    const response = await fetch(`${base}${path}`, { headers })
    return { response, status: response.status, body: await jsonOf(response) }
  }

  async function post(path: string, body: string | undefined, headers: Record<string, string> = {}) {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = {
      method: 'POST',
      headers: { ...bearer, ...type, ...headers },
      ...(body === undefined ? {} : { body }),
    }
    const response = await fetch(`${base}${path}`, init)
    return { response, status: response.status, body: await jsonOf(response) }
  }

  const send = (value: unknown) => post('/api/v1/things', JSON.stringify(value))
  /** The details by which a thing is refused; or what came instead. */
  const details = async (value: unknown) => {
    const { status, body } = await send(value)
    return status === 400 && body.error.code === 'validation_error' ? body.error.details : { status, body }
  }

  return { server: () => server, base: () => base, get, post, send, details }
}
