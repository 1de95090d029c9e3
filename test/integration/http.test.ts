import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { type HttpOptions, type HttpServer, openHttpServer, type Sample } from '../../src/adapters/http/server.ts'
import { BODY_BYTES, BODY_DEPTH, LARGEST_PAGE_SIZE, PAGE_SIZE } from '../../src/domain/limits.ts'
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

const still = { now: () => 0, at: () => () => undefined }
const known = '0198a000-0000-7000-8000-000000000001'
const missing = '0198a000-0000-7000-8000-000000000002'

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

const heard: ApiRequest[] = []
const bytes = new TextEncoder().encode('{"prebuilt":true,"text":"é"}')

function route(change: Partial<ApiRoute> & Pick<ApiRoute, 'path' | 'name'>): ApiRoute {
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

const lines: string[] = []
const samples: Sample[] = []
const options: HttpOptions = {
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

const bearer = { authorization: 'Bearer good' }

/** The JSON of an answer, for looking into. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects to find.
const jsonOf = (response: Response): Promise<any> => response.json()

async function get(path: string, headers: Record<string, string> = bearer) {
  const response = await fetch(`${base}${path}`, { headers })
  return { response, status: response.status, body: await jsonOf(response) }
}

async function post(path: string, body: string | undefined, headers: Record<string, string> = {}) {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = { method: 'POST', headers: { ...bearer, ...type, ...headers }, ...(body === undefined ? {} : { body }) }
  const response = await fetch(`${base}${path}`, init)
  return { response, status: response.status, body: await jsonOf(response) }
}

const send = (value: unknown) => post('/api/v1/things', JSON.stringify(value))
const details = async (value: unknown) => {
  const { status, body } = await send(value)
  return status === 400 && body.error.code === 'validation_error' ? body.error.details : { status, body }
}

describe('envelope', () => {
  test('names code, message, details and the request, which the header names too', async () => {
    const { response, status, body } = await get('/api/v1/nowhere')
    expect(status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(body).toEqual({
      error: {
        code: 'not_found',
        message: 'Not found.',
        details: null,
        requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      },
    })
    expect(response.headers.get('svc-request-id')).toBe(body.error.requestId)
  })

  test.each([
    ['req_0123456789abcdef0123456789abcdef', true],
    ['a'.repeat(128), true],
    ['a'.repeat(129), false],
    ['two words', false],
  ])('takes the caller’s own request id %s: %s', async (sent, kept) => {
    const { response } = await get('/api/v1/nowhere', { 'svc-request-id': sent })
    expect(response.headers.get('svc-request-id') === sent).toBe(kept)
  })

  test('a wrong method on a known path is not found', async () => {
    const response = await fetch(`${base}/api/v1/things`, { method: 'PUT', headers: bearer })
    expect([response.status, (await jsonOf(response)).error.code]).toEqual([404, 'not_found'])
  })

  test('a refusal brings its own sentence and details, or takes those of the table', async () => {
    const { status, body } = await get('/api/v1/calls/0198a000-0000-7000-8000-00000000000f')
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'conflict', message: 'The call is a draft.', details: { status: 'draft' } },
    ])
    expect((await get(`/api/v1/calls/${missing}`)).body.error).toMatchObject({
      code: 'not_found',
      message: 'Call not found.',
    })
  })

  test('a fault tells nothing and is logged under the request’s id', async () => {
    const { status, body } = await get('/api/v1/fault')
    expect([status, body.error]).toMatchObject([500, { code: 'internal', details: null }])
    expect(JSON.stringify(body)).not.toContain('recipe')
    const line = lines.find((one) => one.includes('recipe'))
    expect(line).toContain(body.error.requestId)
    expect(line).not.toContain('+13125550123')
  })

  test.each(['log-away', 'store-away'])('%s is unavailable, with Retry-After', async (name) => {
    const { response, status, body } = await get(`/api/v1/${name}`)
    expect([status, body.error.code, response.headers.get('retry-after')]).toEqual([503, 'unavailable', '3'])
    expect(JSON.stringify(body)).not.toContain('10.0.0.9')
  })

  test('bytes that are no HTTP are answered in the envelope', async () => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1')
    socket.write('NONSENSE\r\n\r\n')
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    expect(head).toContain('400 Bad Request')
    expect(JSON.parse(body).error.code).toBe('bad_request')
  })

  test('an undeclared refusal code stops the start', async () => {
    const bad = route({ path: '/x', name: 'x', rejects: ['no-such-refusal'] })
    await expect(openHttpServer({ ...options, routes: [bad] })).rejects.toThrow('no-such-refusal (x)')
  })
})

describe('order of refusals', () => {
  test.each([
    [undefined, 'missing_key'],
    ['Basic good', 'missing_key'],
    ['Bearer', 'missing_key'],
    ['Bearer good more', 'invalid_key'],
    ['Bearer bad', 'invalid_key'],
    ['bearer good', undefined],
    ['BEARER   good', undefined],
  ])('authorization %s', async (authorization, code) => {
    const { status, response, body } = await get('/api/v1/things', authorization === undefined ? {} : { authorization })
    expect([status, body.error?.code]).toEqual(code === undefined ? [200, undefined] : [401, code])
    expect(response.headers.get('www-authenticate')).toBe(code === undefined ? null : 'Bearer')
  })

  test('the credential comes before malformed JSON, a bad path id and a wrong content type', async () => {
    expect((await post('/api/v1/things', '{', { authorization: '' })).body.error.code).toBe('missing_key')
    expect((await post('/api/v1/things/nonsense/reset', '{', { authorization: 'Bearer bad' })).body.error.code).toBe(
      'invalid_key',
    )
    expect((await post('/api/v1/pings', '{')).body.error).toMatchObject({
      code: 'insufficient_scope',
      details: { required: ['pings:read'], held: [] },
    })
    expect((await post('/api/v1/pings', 'x', { 'content-type': 'text/plain' })).body.error.code).toBe(
      'insufficient_scope',
    )
  })

  test('a path id that does not parse answers as one that does not exist, before body and query', async () => {
    const absent = (
      await get(`/api/v1/calls/${missing}?depth=0`.replace('?depth=0', ''), { ...bearer, 'svc-request-id': 'r' })
    ).body
    for (const path of ['nonsense', 'nonsense?depth=0', `${known}0`])
      expect((await get(`/api/v1/calls/${path}`, { ...bearer, 'svc-request-id': 'r' })).body).toEqual(absent)
    expect((await post('/api/v1/things/nonsense/reset', '{')).body.error).toMatchObject({
      code: 'not_found',
      message: 'Call not found.',
    })
  })

  test.each(['%zz', 'a'.repeat(150)])('a path that no router can read is not found: %s', async (segment) => {
    const { status, body, response } = await get(`/api/v1/calls/${segment}`)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect(response.headers.get('svc-request-id')).toBe(body.error.requestId)
    expect(response.headers.get('svc-position')).toBeTruthy()
  })

  test('an upper-case path id is read as lower case', async () => {
    expect((await get(`/api/v1/calls/${known.toUpperCase()}`)).status).toBe(200)
  })
})

describe('body', () => {
  test('malformed JSON', async () => {
    expect((await post('/api/v1/things', '{"name":')).body.error).toMatchObject({
      code: 'validation_error',
      details: { body: 'must be valid JSON' },
    })
  })

  test.each([
    ['no body', undefined, {}],
    ['an empty body', '', {}],
    ['an empty body of JSON', '', { 'content-type': 'application/json' }],
    ['blanks', '  \n', {}],
    ['an empty body of another type', '', { 'content-type': 'text/plain' }],
    ['an empty object', '{}', {}],
  ])('%s reads as {}', async (_name, body, headers) => {
    expect((await post('/api/v1/optional', body, headers)).status).toBe(200)
    expect(heard[0]?.body).toEqual({})
  })

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['nonsense', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('content type %s %j is not taken', async (type, headers) => {
    const { status, body } = await post('/api/v1/things', '{"name":"ok"}', { 'content-type': type, ...headers })
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  test('a charset beside the type is', async () => {
    expect(
      (await post('/api/v1/things', '{"name":"ok"}', { 'content-type': 'application/json; charset=utf-8' })).status,
    ).toBe(200)
  })

  test('2 MB is taken and a byte more is not', async () => {
    const fill = (size: number) => `{"note":"${'x'.repeat(size - '{"note":""}'.length)}"}`
    expect((await post('/api/v1/optional', fill(BODY_BYTES))).status).toBe(200)
    const response = await server.inject({
      method: 'POST',
      url: '/api/v1/optional',
      headers: { ...bearer, 'content-type': 'application/json' },
      payload: fill(BODY_BYTES + 1),
    })
    expect([response.statusCode, response.json().error.code]).toEqual([413, 'payload_too_large'])
  })

  test('a body that no length announces is cut off at the limit as well', async () => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        sent += 1
        if (sent > 64) stream.close()
        else stream.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const outcome = await fetch(`${base}/api/v1/optional`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).then(
      ({ status }) => status,
      () => 'cut off',
    )
    expect([413, 'cut off']).toContain(outcome)
    expect(heard).toEqual([])
  })

  test('32 levels are taken and 33 are not', async () => {
    const nest = (levels: number) => `{"tags":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"name":"ok"}`
    expect((await post('/api/v1/things', nest(BODY_DEPTH))).body.error.details).toEqual({ tags: 'must be an object' })
    expect((await post('/api/v1/things', nest(BODY_DEPTH + 1))).body.error.details).toEqual({
      body: 'must be at most 32 levels deep',
    })
    expect((await post('/api/v1/things', nest(500_000))).body.error.details).toEqual({
      body: 'must be at most 32 levels deep',
    })
  })

  test('unknown fields are refused by name, at any depth', async () => {
    const value = {
      name: 'ok',
      colour: 1,
      size: 2,
      endpoint: { ringSeconds: 5, x: 1 },
      places: [{ state: 'CA' }, { state: 'NY', y: 1 }],
    }
    const unknown = 'is not a known field'
    expect(await details(value)).toEqual({
      colour: unknown,
      size: unknown,
      'endpoint.x': unknown,
      'places.1.y': unknown,
    })
  })

  test('a route without a body takes an empty object and no field', async () => {
    expect((await post(`/api/v1/things/${known}/reset`, '{}')).status).toBe(200)
    expect((await post(`/api/v1/things/${known}/reset`, '{"x":1}')).body.error.details).toEqual({
      x: 'is not a known field',
    })
  })

  test('the public surface drops unknown fields', async () => {
    expect((await post('/api/public/lease', '{"pool":"p","x":1}', { authorization: '' })).status).toBe(200)
    expect(heard[0]?.body).toEqual({ pool: 'p' })
  })

  test('keys that reach for the prototype do no harm', async () => {
    const top = await post('/api/v1/things', '{"name":"ok","__proto__":{"polluted":1}}')
    expect(Object.entries(top.body.error.details)).toEqual([['__proto__', 'is not a known field']])
    const nested = await post('/api/v1/things', '{"name":"ok","tags":{"__proto__":"x"}}')
    expect(nested.body.error.details).toEqual({ 'tags.__proto__': 'is not a known field' })
    expect(
      (await post('/api/v1/things', '{"name":"ok","constructor":{"prototype":{"polluted":1}}}')).body.error.details,
    ).toEqual({
      constructor: 'is not a known field',
    })
    expect((await post('/api/v1/things', '{"name":"ok","tags":{"constructor":"mine"}}')).status).toBe(200)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test.each<[unknown, Record<string, string>]>([
    [{}, { name: 'is required' }],
    [[], { body: 'must be an object' }],
    ['text', { body: 'must be an object' }],
    [null, { name: 'is required' }],
    [{ name: 'x' }, { name: 'must have 2 to 120 characters' }],
    [{ name: 5 }, { name: 'must be text' }],
    [{ name: 'ok', dailyCap: -1 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', dailyCap: 1_000_001 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', dailyCap: 1.5 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', priceCents: '5' }, { priceCents: 'must be a whole number' }],
    [{ name: 'ok', priceCents: 2 ** 53 }, { priceCents: 'must be a whole number' }],
    [{ name: 'ok', status: 'draft' }, { status: 'must be one of live, paused' }],
    [{ name: 'ok', endpoint: { ringSeconds: 4 } }, { 'endpoint.ringSeconds': 'must be from 5 to 120' }],
    [{ name: 'ok', endpoint: { ringSeconds: 121 } }, { 'endpoint.ringSeconds': 'must be from 5 to 120' }],
    [{ name: 'ok', places: [{ state: 'CAL' }] }, { 'places.0.state': 'must have exactly 2 characters' }],
    [{ name: 'ok', places: [1, 2, 3].map(() => ({ state: 'CA' })) }, { places: 'must have at most 2 entries' }],
    [{ name: 'ok', either: { text: 1 } }, { 'either.text': 'must be text' }],
    [{ name: 'ok', either: 1 }, { either: 'has none of the shapes that it may have' }],
    [
      { name: 'x', status: 1 },
      { name: 'must have 2 to 120 characters', status: 'must be one of live, paused' },
    ],
  ])('%j is refused with %j', async (value, expected) => {
    expect(await details(value)).toEqual(expected)
  })

  test.each(['NaN', '1e999', '9007199254740993'])('the figure %s is refused', async (figure) => {
    expect((await post('/api/v1/things', `{"name":"ok","priceCents":${figure}}`)).status).toBe(400)
  })

  test('the edges of a range are inside it', async () => {
    for (const value of [
      { name: 'ok', dailyCap: 0 },
      { name: 'x'.repeat(120), dailyCap: 1_000_000, priceCents: 2 ** 53 - 1 },
    ])
      expect((await send(value)).status).toBe(200)
  })
})

describe('query', () => {
  test('defaults, clamping and fallbacks', async () => {
    await get('/api/v1/things?sort=nonsense&dir=up&whatever=1')
    await get(
      '/api/v1/things?page=3&pageSize=1000&sort=talkSeconds&dir=asc&minTalk=0&hasRecording=false&from=2026-01-31',
    )
    await get(
      '/api/v1/things?from=2026-01-31T01:00:00%2B01:00&campaignId=0198A000-0000-7000-8000-000000000001&pageSize=200',
    )
    expect(heard.map(({ query }) => query)).toEqual([
      { page: 1, pageSize: 25, sort: 'startedAt', dir: 'desc' },
      {
        page: 3,
        pageSize: 200,
        sort: 'talkSeconds',
        dir: 'asc',
        minTalk: 0,
        hasRecording: false,
        from: '2026-01-31T00:00:00.000Z',
      },
      { page: 1, pageSize: 200, sort: 'startedAt', dir: 'desc', from: '2026-01-31T00:00:00.000Z', campaignId: known },
    ])
  })

  test.each([
    ['page=0', { page: 'must be a whole number of at least 1' }],
    ['page=-1', { page: 'must be a whole number of at least 1' }],
    ['page=1.5', { page: 'must be a whole number of at least 1' }],
    ['page=1e3', { page: 'must be a whole number of at least 1' }],
    ['page=', { page: 'must be a whole number of at least 1' }],
    ['pageSize=0', { pageSize: 'must be a whole number of at least 1' }],
    ['pageSize=9007199254740993', { pageSize: 'must be a whole number of at least 1' }],
    ['minTalk=86401', { minTalk: 'must be a whole number from 0 to 86400' }],
    ['minTalk=%2B5', { minTalk: 'must be a whole number from 0 to 86400' }],
    ['hasRecording=1', { hasRecording: 'must be true or false' }],
    ['hasRecording=TRUE', { hasRecording: 'must be true or false' }],
    ['from=yesterday', { from: 'must be an ISO 8601 instant or a date' }],
    ['campaignId=x&page=0', { campaignId: 'must be a UUID', page: 'must be a whole number of at least 1' }],
  ])('%s is refused', async (query, expected) => {
    const { status, body } = await get(`/api/v1/things?${query}`)
    expect([status, body.error.details]).toEqual([400, expected])
  })

  test('the last of repeated parameters wins', async () => {
    expect((await get('/api/v1/things?page=0&page=2')).status).toBe(200)
    expect(heard[0]?.query).toMatchObject({ page: 2 })
    expect((await get('/api/v1/things?page=2&page=0')).status).toBe(400)
    expect((await get('/api/v1/things?__proto__=1&constructor=2')).status).toBe(200)
  })
})

describe('headers', () => {
  test('every response carries a position, and an answer its own', async () => {
    const own = (await get(`/api/v1/calls/${known}`)).response.headers.get('svc-position')
    const common = (await get('/api/v1/nowhere')).response.headers.get('svc-position')
    for (const path of ['/healthz', '/openapi.json', '/api/v1/fault', '/api/v1/things'])
      expect((await get(path)).response.headers.get('svc-position')).toBe(common)
    heard.length = 0
    await get('/api/v1/things', { ...bearer, 'svc-min-position': own ?? '' })
    await get('/api/v1/things', { ...bearer, 'svc-min-position': common ?? '' })
    await get('/api/v1/things')
    expect(heard.map(({ minPosition }) => minPosition)).toEqual([7, 5, null])
  })

  test.each(['garbage', '7', 'Ny==', Buffer.from('1.5').toString('base64url')])(
    'svc-min-position %s is refused',
    async (sent) => {
      const { status, body } = await get('/api/v1/things', { ...bearer, 'svc-min-position': sent })
      expect([status, Object.keys(body.error.details)]).toEqual([400, ['svc-min-position']])
    },
  )

  test('an idempotency key reaches a write, when it is spelt as it must be', async () => {
    const key = 'k'.repeat(128)
    expect((await post('/api/v1/optional', '{}', { 'idempotency-key': key })).status).toBe(200)
    expect(heard[0]?.idempotencyKey).toBe(key)
    for (const wrong of [`${key}k`, 'two words'])
      expect((await post('/api/v1/optional', '{}', { 'idempotency-key': wrong })).body.error.details).toHaveProperty(
        'Idempotency-Key',
      )
  })

  test('bytes are sent untouched, with the answer’s own headers', async () => {
    const response = await fetch(`${base}/api/v1/calls/${known}`, { headers: bearer })
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('no body is no body', async () => {
    const response = await fetch(`${base}/api/v1/gone`, { method: 'DELETE', headers: bearer })
    expect([response.status, await response.text()]).toEqual([204, ''])
  })

  test('any origin may read, and the preflight is kept for a day', async () => {
    const headers = {
      origin: 'https://console.example',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization',
    }
    const preflight = await fetch(`${base}/api/v1/things`, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, '86400'])
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    const { response } = await get('/api/v1/things', { ...bearer, origin: 'https://console.example' })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toContain('svc-position')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

describe('operations', () => {
  test('health, readiness and metrics', async () => {
    expect((await get('/healthz', {})).body).toEqual({ status: 'ok' })
    const { status, body } = await get('/readyz', {})
    expect([status, body]).toEqual([503, { ready: false, problems: ['call-log lags by 6 s.'] }])
    const metrics = await fetch(`${base}/metrics`, { headers: { authorization: 'Bearer scrape-me' } })
    expect([metrics.status, metrics.headers.get('content-type'), await metrics.text()]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'up 1\n',
    ])
  })

  test.each([{}, { authorization: 'Bearer scrape-m' }, { authorization: 'Bearer scrape-me2' }])(
    '%j does not read the metrics',
    async (headers) => {
      expect((await get('/metrics', headers)).body.error.code).toBe('unauthorized')
    },
  )

  test('one log line a request, without query, credential or number', async () => {
    lines.length = 0
    samples.length = 0
    const { response } = await get('/api/v1/things?caller=%2B13125550123&page=2', {
      authorization: 'Bearer good',
      'svc-request-id': '+13125550123',
    })
    await vi.waitFor(() => expect(samples).toHaveLength(1))
    expect(samples[0]).toMatchObject({ method: 'GET', route: '/api/v1/things', status: 200, ms: expect.any(Number) })
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      requestId: '+•••0123',
      method: 'GET',
      route: '/api/v1/things',
      status: 200,
    })
    expect(lines[0]).not.toMatch(/good|page|3125550123/)
    expect(response.status).toBe(200)
  })

  test('the log redacts what should never have been logged', () => {
    lines.length = 0
    options.log.info(
      {
        headers: { authorization: 'Bearer svc_live_abcdefghijkl' },
        note: 'svc_live_abcdefghijkl called +442071838750',
      },
      'x',
    )
    expect(lines[0]).not.toMatch(/abcdefghijkl|442071838750/)
    expect(lines[0]).toContain('+•••8750')
  })

  test('under pressure it answers unavailable, but its probes still answer', async () => {
    const pressed = await openHttpServer({ ...options, pressure: { maxRssBytes: 1, sampleInterval: 10 } })
    const ask = (url: string) => pressed.inject({ url, headers: bearer })
    await vi.waitFor(async () => expect((await ask('/api/v1/things')).statusCode).toBe(503), { interval: 5 })
    const response = await ask('/api/v1/things')
    expect([response.json().error.code, response.headers['retry-after']]).toEqual(['unavailable', '3'])
    expect((await ask('/healthz')).statusCode).toBe(200)
    await pressed.close(0)
  })

  test('a port in use is one clear sentence', async () => {
    const port = Number(new URL(base).port)
    const other = await openHttpServer(options)
    await expect(other.listen(port, '127.0.0.1')).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another process listens there.`,
    )
    await other.close(0)
  })

  test('a stop finishes what was accepted', async () => {
    const gate = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const slow = route({
      path: '/api/v1/slow',
      name: 'slow',
      run: async () => {
        arrived.resolve()
        await gate.promise
        return { status: 200, body: { ok: true }, position: null }
      },
    })
    const stopping = await openHttpServer({ ...options, routes: [slow] })
    const port = await stopping.listen(0, '127.0.0.1')
    const answer = fetch(`http://127.0.0.1:${port}/api/v1/slow`, { headers: bearer })
    await arrived.promise
    const closed = stopping.close(1_000)
    gate.resolve()
    expect(await (await answer).json()).toEqual({ ok: true })
    await closed
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })

  test('a stop hangs up on what is not done in time', async () => {
    const arrived = Promise.withResolvers<void>()
    const stuck = route({
      path: '/api/v1/stuck',
      name: 'stuck',
      run: () => {
        arrived.resolve()
        return new Promise(() => undefined)
      },
    })
    const clock = {
      now: () => 0,
      at: (_instant: number, wake: () => void) => {
        wake()
        return () => undefined
      },
    }
    const stopping = await openHttpServer({ ...options, routes: [stuck], clock })
    const port = await stopping.listen(0, '127.0.0.1')
    const answer = fetch(`http://127.0.0.1:${port}/api/v1/stuck`, { headers: bearer })
    const hungUp = expect(answer).rejects.toThrow()
    await arrived.promise
    await stopping.close(0)
    await hungUp
  })

  test('a stop does not wait for connections on which nothing was asked', async () => {
    const stopping = await openHttpServer({ ...options, routes: [], clock: still })
    const port = await stopping.listen(0, '127.0.0.1')
    const silent = connect(port, '127.0.0.1')
    await once(silent, 'connect')
    // Connections are taken in order: the silent one has been when this is answered.
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
    const ended = once(silent, 'close')
    await stopping.close(0)
    await ended
  })
})

describe('documentation', () => {
  test('lists every route with its answers and its refusals by status', async () => {
    const { body } = await get('/openapi.json', {})
    expect(body).toEqual(JSON.parse(JSON.stringify(server.openapi())))
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Test API', version: '1.2.3' } })
    const { get: list, post: make } = body.paths['/api/v1/things']
    expect(list).toMatchObject({
      operationId: 'list-things',
      tags: ['REST API'],
      security: [{ key: [] }],
      summary: 'A route.',
    })
    expect(list.parameters).toContainEqual(
      expect.objectContaining({
        in: 'query',
        name: 'minTalk',
        schema: { type: 'integer', minimum: 0, maximum: 86_400 },
      }),
    )
    expect(make.requestBody.content['application/json'].schema).toMatchObject({
      additionalProperties: false,
      required: ['name'],
    })
    const call = body.paths['/api/v1/calls/{id}'].get
    expect(Object.keys(call.responses)).toEqual(['200', '400', '401', '402', '403', '404', '409', '429', '500', '503'])
    const codes = (status: number) =>
      call.responses[status].content['application/json'].schema.properties.error.properties.code.enum
    expect(codes(401)).toEqual(['missing_key', 'invalid_key'])
    expect(codes(404)).toEqual(['not_found'])
    expect(body.paths['/api/public/lease'].post.security).toEqual([])
    expect(Object.keys(body.paths)).not.toContain('/healthz')
  })

  test('has a page that a browser can run', async () => {
    const page = await fetch(`${base}/docs/`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(page.headers.get('x-frame-options')).toBe('SAMEORIGIN')
    const script = (await page.text()).match(/src="(\.\/[^"]*bundle[^"]*\.js)"/)?.[1]
    const bundle = await fetch(new URL(script ?? 'missing', page.url))
    expect([bundle.status, (await bundle.text()).length > 0]).toEqual([200, true])
  })
})
