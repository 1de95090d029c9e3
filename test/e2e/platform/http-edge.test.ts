import { expect } from 'vitest'
import { unroutedReason } from '../../../src/domain/shared/call-codes.ts'
import { REQUEST } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, createApiClient, type Json, sendRequest, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { resolveReference } from '../../support/openapi/references.ts'

const REQUEST_ID = /^req_[0-9a-f]{32}$/
const RESOURCES = [
  'calls',
  'calls/{id}',
  'calls/live',
  'numbers',
  'campaigns',
  'campaigns/{id}',
  'buyers',
  'buyers/{id}',
  'targets',
  'targets/{id}',
  'publishers',
  'publishers/{id}',
]
const FAULTS = ['500', '503']

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Open' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  return { main, line }
}

const { it, main, the, server } = suite('edge', world)

const ask = (path: string) => createApiClient(() => server.baseUrl, null)(path)
const play = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  main.console('/api/sandbox/calls', { method: 'POST', body, headers })

/** Expects the complete error envelope. */
function expectRefusal({ status, body, headers }: ApiResponse, expected: readonly [number, string, Json]) {
  const [expectedStatus, code, details] = expected
  expect(status).toBe(expectedStatus)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(body).toEqual({
    error: { code, message: expect.stringMatching(/\.$/), details, requestId: headers.get('svc-request-id') },
  })
}

it('every response has a request id, the one sent if there is one', async () => {
  for (const path of ['/healthz', '/api/v1/calls', '/nowhere'])
    expect((await ask(path)).headers.get('svc-request-id')).toMatch(REQUEST_ID)
  const sent = await main.rest('/api/v1/calls/x', { headers: { 'svc-request-id': 'mine-1' } })
  expectRefusal(sent, [404, 'not_found', null])
  expect(sent.body.error.requestId).toBe('mine-1')
  const spaced = await main.rest('/api/v1/calls', { headers: { 'svc-request-id': 'two words' } })
  expect(spaced.headers.get('svc-request-id')).toMatch(REQUEST_ID)
})

it('an unknown route is a not_found', async () => {
  for (const path of ['/api', '/api/v2/calls', '/api/v1/call', '/api/v1/calls/live/now', '/api/v1/calls/%00'])
    expect((await main.rest(path)).status).toBe(404)
  expectRefusal(await ask('/nowhere'), [404, 'not_found', null])
})

it('a path that exists under other methods is a method_not_allowed, which names them', async () => {
  for (const [method, path, allow] of [
    ['POST', '/api/v1/calls', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/v1/calls?page=1', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/v1/c%61lls', 'GET, HEAD, OPTIONS'],
    ['GET', '/api/sandbox/calls', 'POST, OPTIONS'],
    ['HEAD', '/api/sandbox/calls', 'POST, OPTIONS'],
    ['HEAD', '/api/v1/calls/export.csv', 'GET, OPTIONS'],
    ['GET', '/api/tracking/numbers/search', 'POST, OPTIONS'],
    ['PUT', `/api/tracking/campaigns/${UNKNOWN_ID}`, 'GET, HEAD, PATCH, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/api/v1/calls', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const withoutCredential = await fetch(`${server.baseUrl}${path}`, { method })
    const answer = await sendRequest(`${server.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${the.main.key}`, 'content-type': 'application/json' },
    })
    for (const { status, headers } of [withoutCredential, answer])
      expect([status, headers.get('allow')], `${method} ${path}`).toEqual([405, allow])
    if (method !== 'HEAD') expectRefusal(answer, [405, 'method_not_allowed', null])
  }
  for (const path of ['/nowhere', '/api/v1/nowhere', '/api/v1/calls/%00%zz']) {
    const answer = await sendRequest(`${server.baseUrl}${path}`, { method: 'POST', body: {} })
    expectRefusal(answer, [404, 'not_found', null])
    expect(answer.headers.get('allow')).toBeNull()
  }
})

it('a request that no route takes is refused before its body is read, and is readable from other origins', async () => {
  for (const [method, path, status] of [
    ['POST', '/nowhere', 404],
    ['PUT', '/api/tracking/buyers', 405],
    ['DELETE', '/docs', 405],
    ['PATCH', '/api/tracking/numbers/search', 405],
  ] as const)
    for (const body of ['{"a":', 'x'.repeat(2 * 1024 * 1024 + 1)]) {
      const answer = await sendRequest(`${server.baseUrl}${path}`, { method, body })
      expect([answer.status, answer.headers.get('access-control-allow-origin')], `${method} ${path}`).toEqual([
        status,
        '*',
      ])
    }
})

it('unreadable bodies are refused', async () => {
  expectRefusal(await play('{"to":'), [400, 'validation_error', { body: expect.any(String) }])
  expectRefusal(await play('[]'), [400, 'validation_error', { body: expect.any(String) }])
  expectRefusal(await play(''), [400, 'validation_error', { to: 'is required' }])
  expectRefusal(await play('to=1', { 'content-type': 'application/x-www-form-urlencoded' }), [
    415,
    'unsupported_media_type',
    null,
  ])
  const deep = `${'{"script":'.repeat(40)}1${'}'.repeat(40)}`
  expectRefusal(await play(deep), [400, 'validation_error', { body: expect.stringContaining('32') }])
  const large = JSON.stringify({ to: the.line.e164, script: 'x'.repeat(2 * 1024 * 1024) })
  expectRefusal(await play(large), [413, 'payload_too_large', null])
  expectRefusal(await play({ to: the.line.e164, colour: 'red', mood: 1 }), [
    400,
    'validation_error',
    { colour: expect.any(String), mood: expect.any(String) },
  ])
  expectRefusal(await play('{"to":"+13105550100","__proto__":{"a":1}}'), [400, 'validation_error', expect.any(Object)])
})

it('the credential is checked before the body is read', async () => {
  const answer = await sendRequest(`${server.baseUrl}/api/sandbox/calls`, { method: 'POST', body: '{"to":' })
  expectRefusal(answer, [401, 'unauthorized', null])
})

it('a write is readable at once, and at its position', async () => {
  for (let n = 0; n < 10; n++) {
    const placed = await play({ to: the.line.e164, mode: 'instant' })
    expect(placed.status, placed.text).toBe(201)
    expect(placed.headers.get('svc-read-lag')).toBeNull()
    const position = placed.headers.get('svc-position') ?? ''
    expect(position).not.toBe('')
    const [first] = (await main.rest('/api/v1/calls?pageSize=1')).body.data
    expect(first.id).toBe(placed.body.callId)
    const waited = await main.rest('/api/v1/calls?pageSize=1', { headers: { 'svc-min-position': position } })
    expect(waited.body.data[0].id).toBe(placed.body.callId)
    expect(waited.headers.get('svc-position')).not.toBeNull()
  }
})

it('an invalid position is refused', async () => {
  const answer = await main.rest('/api/v1/calls', { headers: { 'svc-min-position': 'soon' } })
  expectRefusal(answer, [400, 'validation_error', { 'svc-min-position': expect.any(String) }])
})

it('a write repeated with its Idempotency-Key is done once', async () => {
  const headers = { 'idempotency-key': `once-${the.main.workspaceId}` }
  const body = { to: the.line.e164, mode: 'instant' }
  const total = async () => (await main.rest('/api/v1/calls')).body.total
  const before = await total()
  const first = await play(body, headers)
  expect(first.status, first.text).toBe(201)
  const again = await play(body, headers)
  expect(again.status).toBe(201)
  expect(again.text).toBe(first.text)
  expect(again.headers.get('svc-idempotent-replay')).toBe('true')
  expect(first.headers.get('svc-idempotent-replay')).toBeNull()
  expect(await total()).toBe(before + 1)
  const other = await play({ ...body, from: null }, headers)
  expect(other.status).toBe(409)
  expect(other.body.error.code).toBe('conflict')
  for (const key of ['', 'k'.repeat(129), 'two words'])
    expect((await play(body, { 'idempotency-key': key })).status).toBe(400)
})

it('responses have security headers, and are readable from other origins', async () => {
  const { headers } = await main.rest('/api/v1/calls')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  const exposed = headers.get('access-control-expose-headers')?.split(', ')
  for (const name of ['svc-position', 'svc-read-lag', 'svc-idempotent-replay', 'Content-Disposition', 'Content-Range'])
    expect(exposed).toContain(name)
  const preflight = await fetch(`${server.baseUrl}/api/v1/calls`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  })
  expect(preflight.status).toBe(204)
})

it('OPTIONS without the headers of a preflight request answers with the methods of the path', async () => {
  const options = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.baseUrl}${path}`, { method: 'OPTIONS', headers })
  for (const [path, allow] of [
    ['/api/v1/calls', 'GET, HEAD, OPTIONS'],
    ['/api/tracking/buyers?page=2', 'GET, HEAD, POST, OPTIONS'],
    [`/api/tracking/campaigns/${UNKNOWN_ID}`, 'GET, HEAD, PATCH, OPTIONS'],
    [`/api/tracking/campaigns/${UNKNOWN_ID}/publishers/${UNKNOWN_ID}`, 'GET, HEAD, PUT, DELETE, OPTIONS'],
  ] as const)
    for (const headers of [{}, { origin: 'https://app.example' }, { 'access-control-request-method': 'GET' }]) {
      const answer = await options(path, headers as Record<string, string>)
      expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([204, allow, ''])
      expect(answer.headers.get('svc-request-id')).toMatch(/^req_/)
    }
  const nowhere = await options('/api/v1/nowhere')
  expect([nowhere.status, await nowhere.text()]).toEqual([404, expect.stringMatching(/"not_found".*"requestId":"req_/)])
})

it('unknown query parameters are ignored, and named in a response header', async () => {
  const ignoredIn = async (path: string, token = the.main.key) => {
    const { status, headers } = await sendRequest(`${server.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return [status, headers.get('svc-ignored-parameters')]
  }
  expect(await ignoredIn('/api/v1/calls?pageSize=5&tz=UTC')).toEqual([200, null])
  expect(await ignoredIn('/api/v1/calls?campaign=x&page=1&limit=3')).toEqual([200, 'campaign, limit'])
  expect(await ignoredIn('/api/v1/calls?a%20b=1&%C3%BC%0D%0Ax=2')).toEqual([200, 'a%20b, %C3%BC%0D%0Ax'])
  expect(await ignoredIn('/api/v1/calls?page=0&sorted=1')).toEqual([400, 'sorted'])
  expect(await ignoredIn(`/api/v1/campaigns?agencyId=${the.main.workspaceId}`)).toEqual([200, 'agencyId'])
  expect(await ignoredIn(`/api/tracking/campaigns?agencyId=${the.main.workspaceId}`, the.main.session)).toEqual([
    200,
    null,
  ])
  const many = Array.from({ length: 30 }, (_, n) => `${'k'.repeat(99)}${n}=1`).join('&')
  for (const path of [
    '/',
    '/docs',
    '/docs/reference',
    '/openapi.json',
    '/docs/yaml',
    '/healthz',
    '/readyz',
    '/metrics',
  ])
    expect(await ignoredIn(`${path}?surfaces=rest`), path).toEqual([200, 'surfaces'])
  expect(await ignoredIn('/openapi.json?surface=rest&page=1')).toEqual([200, 'page'])
  // A sign of two units that the cut would divide.
  const divided = `${'k'.repeat(REQUEST.ignoredParameters.length - 1)}😀`
  expect((await ignoredIn(`/api/v1/calls?${encodeURIComponent(divided)}=1`))[0]).toBe(200)
  const [, named] = await ignoredIn(`/api/v1/calls?${many}`)
  expect(String(named).split(', ')).toEqual(Array(20).fill('k'.repeat(64)))
})

it('an integer above the largest page size is clamped, whatever its size', async () => {
  for (const pageSize of ['201', '99999999999999999999', '9'.repeat(400)]) {
    const { status, body } = await main.rest(`/api/v1/campaigns?pageSize=${pageSize}`)
    expect([status, body.pageSize]).toEqual([200, 200])
  }
  expect((await main.rest(`/api/v1/campaigns?page=${'9'.repeat(30)}`)).body).toMatchObject({ data: [] })
  for (const query of [
    'pageSize=0',
    'pageSize=-99999999999999999999',
    'pageSize=1.5',
    'pageSize=1e9',
    'page=0',
    'page=',
  ])
    expect((await main.rest(`/api/v1/campaigns?${query}`)).status).toBe(400)
})

it('probes, metrics and the documentation need no credential', async () => {
  expect((await ask('/healthz')).body).toEqual({ status: 'ok' })
  expect((await ask('/readyz')).body).toEqual({ ready: true, problems: [], warnings: [] })
  await main.rest('/api/v1/campaigns')
  const metrics = await ask('/metrics')
  expect(metrics.status).toBe(200)
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(metrics.text).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/campaigns",status="200"\} \d/,
  )
  expect(metrics.text).toMatch(/projection_lag_seconds\{projection="call-log"\} /)
  const docs = await fetch(`${server.baseUrl}/docs`)
  expect(docs.status).toBe(200)
  expect(await docs.text()).toContain('html')
})

it('OpenAPI 3.1 lists the reads with their parameters, their answers and their refusals', async () => {
  const { body } = await ask('/openapi.json')
  expect(body.openapi).toMatch(/^3\.1\./)
  const reads = RESOURCES.flatMap((path) => [`/api/v1/${path}`, `/api/tracking/${path}`])
  expect(Object.keys(body.paths)).toEqual(expect.arrayContaining([...reads, '/api/sandbox/calls']))
  for (const path of reads) {
    const { get } = body.paths[path]
    const rest = path.startsWith('/api/v1/')
    const codes = [
      '200',
      ...(path.endsWith('{id}') ? ['404'] : []),
      ...(rest ? ['401', '402', '403', '429'] : ['401', '402', '403', '404', '429']),
      ...FAULTS,
    ]
    expect(Object.keys(get.responses)).toEqual(expect.arrayContaining(codes))
    expect(resolveReference(body, get.responses['200']).content['application/json'].schema).toBeDefined()
    expect(get.security).toBeDefined()
  }
  const parameters = body.paths['/api/v1/calls'].get.parameters.map((one: Json) => resolveReference(body, one))
  const named = parameters.filter((parameter: Json) => parameter.in === 'query').map(({ name }: Json) => name)
  expect(named).toEqual(
    expect.arrayContaining([
      'from',
      'to',
      'tz',
      'campaignId',
      'outcome',
      'minTalk',
      'caller',
      'tagKey',
      'reason',
      'page',
      'pageSize',
      'sort',
      'dir',
    ]),
  )
  const schemaOf = (wanted: string) => parameters.find(({ name }: Json) => name === wanted).schema
  const usual = ['page', 'pageSize', 'sort', 'dir'].map((name) => schemaOf(name).default)
  expect(usual).toEqual([1, 25, 'startedAt', 'desc'])
  expect(schemaOf('reason').enum).toEqual(unroutedReason.options)
  const { post } = body.paths['/api/sandbox/calls']
  expect(Object.keys(post.responses)).toEqual(
    expect.arrayContaining(['201', '400', '401', '403', '404', '409', '413', '415']),
  )
  expect(Object.keys(resolveReference(body, post.requestBody.content['application/json'].schema).properties)).toEqual(
    expect.arrayContaining(['to', 'from', 'at', 'mode', 'script', 'speed']),
  )
})
