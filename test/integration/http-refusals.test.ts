import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openHttpServer } from '../../src/adapters/http/server.ts'
import { UnknownEventVersion } from '../../src/kernel/entity.ts'
import type { ApiRoute } from '../../src/ports/api.ts'
import {
  bearer,
  httpEdge,
  jsonOf,
  knownId,
  logLines,
  missingId,
  options,
  someRoute,
} from '../support/fixtures/http-edge.ts'

const { base, get, post } = httpEdge()

describe('envelope', () => {
  test('has code, message, details and the request id, which the header repeats', async () => {
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

  test('a wrong method on a known path is not allowed', async () => {
    const response = await fetch(`${base()}/api/v1/things`, { method: 'PUT', headers: bearer })
    expect([response.status, (await jsonOf(response)).error.code]).toEqual([405, 'method_not_allowed'])
  })

  test('routes that other processes serve count among the methods of their path', async () => {
    const elsewhere = (method: ApiRoute['method'], path: string, more: Partial<ApiRoute> = {}) =>
      someRoute({ method, path, name: 'elsewhere', ...more })
    const server = await openHttpServer({
      ...options,
      routesElsewhere: [
        elsewhere('PATCH', '/api/v1/calls/:id'),
        elsewhere('GET', '/api/v1/elsewhere'),
        elsewhere('GET', '/api/v1/elsewhere.csv', { contentType: 'text/csv' }),
      ],
    })
    const ask = async (method: 'POST' | 'GET' | 'OPTIONS', url: string) => {
      const { statusCode, headers } = await server.inject({ method, url })
      return [statusCode, headers.allow]
    }
    expect(await ask('POST', '/api/v1/calls/1')).toEqual([405, 'GET, HEAD, PATCH, OPTIONS'])
    expect(await ask('POST', '/api/v1/elsewhere')).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await ask('POST', '/api/v1/elsewhere.csv')).toEqual([405, 'GET, OPTIONS'])
    expect(await ask('OPTIONS', '/api/v1/elsewhere')).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(await ask('GET', '/api/v1/elsewhere')).toEqual([404, undefined])
    await server.close(1_000)
  })

  test('an event of a newer version is an outage of this process alone, with a sentence', async () => {
    const run = async () => {
      throw new UnknownEventVersion('An event CallAdmitted has version 9.')
    }
    const server = await openHttpServer({
      ...options,
      routes: [someRoute({ path: '/api/v1/newer', name: 'newer', run })],
    })
    const { statusCode, headers, body } = await server.inject({ url: '/api/v1/newer', headers: bearer })
    expect([statusCode, headers['retry-after']]).toEqual([503, '3'])
    expect(JSON.parse(body).error).toMatchObject({
      code: 'unavailable',
      message: 'A newer version of the platform has written here, which this process does not know: try again.',
    })
    await server.close(1_000)
  })

  test('a refusal brings its own sentence and details, or takes those of the table', async () => {
    const { status, body } = await get('/api/v1/calls/0198a000-0000-7000-8000-00000000000f')
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'conflict', message: 'The call is a draft.', details: { status: 'draft' } },
    ])
    expect((await get(`/api/v1/calls/${missingId}`)).body.error).toMatchObject({
      code: 'not_found',
      message: 'Call not found.',
    })
  })

  test('a fault reveals no detail and is logged with the request id', async () => {
    const { status, body } = await get('/api/v1/fault')
    expect([status, body.error]).toMatchObject([500, { code: 'internal', details: null }])
    expect(JSON.stringify(body)).not.toContain('recipe')
    const line = logLines.find((one) => one.includes(body.error.requestId))
    expect(line).toContain('recipe')
    expect(line).not.toContain('+13125550123')
  })

  test.each(['log-away', 'store-away'])('%s is unavailable, with Retry-After', async (name) => {
    const { response, status, body } = await get(`/api/v1/${name}`)
    expect([status, body.error.code, response.headers.get('retry-after')]).toEqual([503, 'unavailable', '3'])
    expect(JSON.stringify(body)).not.toContain('10.0.0.9')
  })

  test('bytes that are not HTTP are answered in the envelope', async () => {
    const socket = connect(Number(new URL(base()).port), '127.0.0.1')
    socket.write('NONSENSE\r\n\r\n')
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    expect(head).toContain('400 Bad Request')
    expect(JSON.parse(body).error.code).toBe('bad_request')
  })

  test('an undeclared refusal code stops the start', async () => {
    const bad = someRoute({ path: '/x', name: 'x', rejects: ['no-such-refusal'] })
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

  test('a malformed path id is answered as a missing one, before body and query', async () => {
    const absent = (
      await get(`/api/v1/calls/${missingId}?depth=0`.replace('?depth=0', ''), { ...bearer, 'svc-request-id': 'r' })
    ).body
    for (const path of ['nonsense', 'nonsense?depth=0', `${knownId}0`, 'a'.repeat(10_000)])
      expect((await get(`/api/v1/calls/${path}`, { ...bearer, 'svc-request-id': 'r' })).body).toEqual(absent)
    expect((await post('/api/v1/things/nonsense/reset', '{')).body.error).toMatchObject({
      code: 'not_found',
      message: 'Call not found.',
    })
  })

  test('a path that no router can read is not found', async () => {
    const { status, body, response } = await get('/api/v1/calls/%zz')
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect(response.headers.get('svc-request-id')).toBe(body.error.requestId)
    expect(response.headers.get('svc-position')).toBeNull()
  })

  test('an upper-case path id is read as lower case', async () => {
    expect((await get(`/api/v1/calls/${knownId.toUpperCase()}`)).status).toBe(200)
  })
})
