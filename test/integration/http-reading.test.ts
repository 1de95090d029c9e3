import { describe, expect, test } from 'vitest'
import { REQUEST } from '../../src/domain/shared/limits.ts'
import { createCursors } from '../../src/main/cursors.ts'
import {
  bearer,
  httpEdge,
  knownId,
  missingId,
  options,
  prebuiltBody,
  receivedRequests,
} from '../support/fixtures/http-edge.ts'

const { base, details, get, post, send, server } = httpEdge()

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
    expect(receivedRequests[0]?.body).toEqual({})
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
    expect((await post('/api/v1/optional', fill(REQUEST.bodyBytes))).status).toBe(200)
    const response = await server().inject({
      method: 'POST',
      url: '/api/v1/optional',
      headers: { ...bearer, 'content-type': 'application/json' },
      payload: fill(REQUEST.bodyBytes + 1),
    })
    expect([response.statusCode, response.json().error.code]).toEqual([413, 'payload_too_large'])
  })

  test('a body without Content-Length is refused at the limit too', async () => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        sent += 1
        if (sent > 64) stream.close()
        else stream.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const outcome = await fetch(`${base()}/api/v1/optional`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).then(
      ({ status }) => status,
      () => 'cut off',
    )
    expect([413, 'cut off']).toContain(outcome)
    expect(receivedRequests).toEqual([])
  })

  test('a body of 32 levels is accepted and one of 33 is refused', async () => {
    const nest = (levels: number) => `{"tags":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"name":"ok"}`
    expect((await post('/api/v1/things', nest(REQUEST.bodyDepth))).body.error.details).toEqual({
      tags: 'must be an object',
    })
    expect((await post('/api/v1/things', nest(REQUEST.bodyDepth + 1))).body.error.details).toEqual({
      body: 'must be nested at most 32 levels deep',
    })
    expect((await post('/api/v1/things', nest(500_000))).body.error.details).toEqual({
      body: 'must be nested at most 32 levels deep',
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

  test('a refusal names 20 fields, and repeats 24 characters of what was sent', async () => {
    const long = 'k'.repeat(500)
    const cut = `${'k'.repeat(24)}…`
    const unknown = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`k${n}`, 1]))
    expect(Object.keys(await details({ name: 'ok', ...unknown }))).toHaveLength(20)
    expect(Object.keys(await details({ name: 'x', dailyCap: -1, ...unknown }))).toEqual(
      expect.arrayContaining(['name', 'dailyCap', 'k0']),
    )
    const headers = { 'idempotency-key': 'two words' }
    const both = await post('/api/v1/things', JSON.stringify({ name: 'ok', ...unknown }), headers)
    const named = Object.keys(both.body.error.details)
    expect([named.length, named[0]]).toEqual([20, 'Idempotency-Key'])
    expect(
      await details({ name: 'ok', [long]: 1, tags: { [long]: 1 }, endpoint: { ringSeconds: 5, [long]: 1 } }),
    ).toEqual({
      [cut]: 'is not a known field',
      [`tags.${cut}`]: 'must be a string',
      [`endpoint.${cut}`]: 'is not a known field',
    })
    const hidden = await post('/api/v1/things', `{"name":"ok","${long}":{"__proto__":1}}`)
    expect(hidden.body.error.details).toEqual({ [`${cut}.__proto__`]: 'is not a known field' })
  })

  test('objects and arrays are counted before the text is parsed', async () => {
    const things = (count: number) => `{"name":"ok","x":[${Array.from({ length: count - 2 }, () => '{}').join()}]}`
    const problemOf = async (text: string) => (await post('/api/v1/things', text)).body.error.details
    expect(await problemOf(things(REQUEST.containers))).toEqual({ x: 'is not a known field' })
    const tooMany = { body: `must have at most ${REQUEST.containers} objects and arrays` }
    expect(await problemOf(things(REQUEST.containers + 1))).toEqual(tooMany)
    // What follows is not read: the text would not be valid JSON.
    expect(await problemOf(`${things(REQUEST.containers + 1)}}`)).toEqual(tooMany)
    expect(await problemOf('['.repeat(1_000_000))).toEqual({ body: 'must be nested at most 32 levels deep' })
  })

  test('brackets within texts are no objects and arrays', async () => {
    for (const name of ['[{'.repeat(30), `\\${'['.repeat(40)}`, `"${'{'.repeat(40)}"\\`, `${'['.repeat(40)}\\\\"`])
      expect((await post('/api/v1/things', JSON.stringify({ name }))).status, name).toBe(200)
  })

  const fieldsTo = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":1`).join()

  test.each<[string, (fields: string) => string, string]>([
    ['the body', (fields) => `{${fields}`, 'body'],
    ['a record in it', (fields) => `{"name":"ok","tags":{"a":{}},"tags":{${fields}`, 'tags'],
    ['an item of a list', (fields) => `{"name":"ok","places":[1,{"x":[2]},{"y":{${fields}`, 'places.2.y'],
  ])('the fields of %s are counted before the text is parsed', async (_name, textOf, place) => {
    // The text is no valid JSON: only what is counted before is refused for its fields.
    const problemOf = async (text: string) => (await post('/api/v1/things', text)).body.error.details
    expect(await problemOf(textOf(fieldsTo(REQUEST.objectFields)))).toEqual({ body: 'must be valid JSON' })
    const tooMany = { [place]: 'must have at most 1000 fields' }
    expect(await problemOf(textOf(fieldsTo(REQUEST.objectFields + 1)))).toEqual(tooMany)
    expect(await problemOf(textOf(fieldsTo(150_000)))).toEqual(tooMany)
  })

  test('the fields of all objects are counted before the text is parsed', async () => {
    const problemOf = async (text: string) => (await post('/api/v1/things', text)).body.error.details
    const objects = Array.from({ length: REQUEST.fields / 500 }, () => `{${fieldsTo(500)}}`).join()
    expect(await problemOf(`[${objects}`)).toEqual({ body: 'must be valid JSON' })
    expect(await problemOf(`[${objects},{"a":1}`)).toEqual({ body: 'must have at most 20000 fields in all' })
  })

  test('an array past its maximum is refused before its items are read', async () => {
    const places = Array.from({ length: 300_000 }, () => 1)
    expect(await details({ name: 'x', places })).toEqual({
      name: 'must have 2 to 120 characters',
      places: 'must have at most 2 items',
    })
  })

  test('a route without a body takes an empty object and no field', async () => {
    expect((await post(`/api/v1/things/${knownId}/reset`, '{}')).status).toBe(200)
    expect((await post(`/api/v1/things/${knownId}/reset`, '{"x":1}')).body.error.details).toEqual({
      x: 'is not a known field',
    })
  })

  test('the public surface drops unknown fields', async () => {
    expect((await post('/api/public/lease', '{"pool":"p","x":1}', { authorization: '' })).status).toBe(200)
    expect(receivedRequests[0]?.body).toEqual({ pool: 'p' })
  })

  test('keys that reach for the prototype are refused', async () => {
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
    [{ name: 5 }, { name: 'must be a string' }],
    [{ name: 'ok', dailyCap: -1 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', dailyCap: 1_000_001 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', dailyCap: 1.5 }, { dailyCap: 'must be a whole number from 0 to 1000000' }],
    [{ name: 'ok', priceCents: '5' }, { priceCents: 'must be a whole number' }],
    [{ name: 'ok', priceCents: 2 ** 53 }, { priceCents: 'must be a whole number' }],
    [{ name: 'ok', status: 'draft' }, { status: 'must be one of: live, paused' }],
    [{ name: 'ok', endpoint: { ringSeconds: 4 } }, { 'endpoint.ringSeconds': 'must be from 5 to 120' }],
    [{ name: 'ok', endpoint: { ringSeconds: 121 } }, { 'endpoint.ringSeconds': 'must be from 5 to 120' }],
    [{ name: 'ok', places: [{ state: 'CAL' }] }, { 'places.0.state': 'must have exactly 2 characters' }],
    [{ name: 'ok', places: [1, 2, 3].map(() => ({ state: 'CA' })) }, { places: 'must have at most 2 items' }],
    [{ name: 'ok', either: { text: 1 } }, { 'either.text': 'must be a string' }],
    [{ name: 'ok', either: 1 }, { either: 'does not match any allowed shape' }],
    [
      { name: 'x', status: 1 },
      { name: 'must have 2 to 120 characters', status: 'must be one of: live, paused' },
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
    expect(receivedRequests.map(({ query }) => query)).toEqual([
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
      { page: 1, pageSize: 200, sort: 'startedAt', dir: 'desc', from: '2026-01-31T00:00:00.000Z', campaignId: knownId },
    ])
  })

  test.each([
    ['page=0', { page: 'must be a whole number of at least 1' }],
    ['page=-1', { page: 'must be a whole number of at least 1' }],
    ['page=1.5', { page: 'must be a whole number of at least 1' }],
    ['page=1e3', { page: 'must be a whole number of at least 1' }],
    ['page=', { page: 'must be a whole number of at least 1' }],
    ['pageSize=0', { pageSize: 'must be a whole number of at least 1' }],
    ['pageSize=-9007199254740993', { pageSize: 'must be a whole number of at least 1' }],
    ['minTalk=86401', { minTalk: 'must be a whole number from 0 to 86400' }],
    ['minTalk=%2B5', { minTalk: 'must be a whole number from 0 to 86400' }],
    ['hasRecording=1', { hasRecording: 'must be true or false' }],
    ['hasRecording=TRUE', { hasRecording: 'must be true or false' }],
    ['from=yesterday', { from: 'must be an ISO 8601 instant or a date' }],
    ['from=0000-01-01T00:00:00%2B10:00', { from: 'must be an ISO 8601 instant or a date' }],
    ['from=9999-12-31T23:59:59-10:00', { from: 'must be an ISO 8601 instant or a date' }],
    ['campaignId=x&page=0', { campaignId: 'must be a UUID', page: 'must be a whole number of at least 1' }],
  ])('%s is refused', async (query, expected) => {
    const { status, body } = await get(`/api/v1/things?${query}`)
    expect([status, body.error.details]).toEqual([400, expected])
  })

  test('the last of repeated parameters wins', async () => {
    expect((await get('/api/v1/things?page=0&page=2')).status).toBe(200)
    expect(receivedRequests[0]?.query).toMatchObject({ page: 2 })
    expect((await get('/api/v1/things?page=2&page=0')).status).toBe(400)
    expect((await get('/api/v1/things?__proto__=1&constructor=2')).status).toBe(200)
  })

  test.each([999, 1_000, 1_001])(
    'a query string of %i characters that comes again is read and refused alike',
    async (length) => {
      for (const page of ['3', '0']) {
        const filler = `page=${page}&other=`
        const path = `/api/v1/things?${filler}${'x'.repeat(length - filler.length)}`
        receivedRequests.length = 0
        const [first, again] = [await get(path), await get(path)]
        expect(again.status).toBe(first.status)
        expect(first.status).toBe(page === '0' ? 400 : 200)
        expect(again.body.error?.details).toEqual(first.body.error?.details)
        expect(again.response.headers.get('svc-ignored-parameters')).toBe('other')
        expect(receivedRequests.map(({ query }) => query)).toMatchObject(page === '0' ? [] : [{ page: 3 }, { page: 3 }])
        // Another route reads the same string by a schema of its own.
        expect((await get(`/api/v1/calls/${knownId}?${filler}`)).status).toBe(200)
      }
    },
  )
})

describe('headers', () => {
  test('every response to a credential carries a position, its own if it has one', async () => {
    const positionOf = async (path: string, headers = bearer) =>
      (await get(path, headers)).response.headers.get('svc-position')
    const own = await positionOf(`/api/v1/calls/${knownId}`)
    const common = await positionOf('/api/v1/things')
    for (const path of ['/api/v1/fault', '/api/v1/things?page=0', `/api/v1/calls/${missingId}`])
      expect(await positionOf(path)).toBe(common)
    expect(await positionOf('/api/v1/things', { authorization: 'Bearer bad' })).toBeNull()
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/api/v1/nowhere'])
      expect(await positionOf(path)).toBeNull()
    receivedRequests.length = 0
    await get('/api/v1/things', { ...bearer, 'svc-min-position': own ?? '' })
    await get('/api/v1/things', { ...bearer, 'svc-min-position': common ?? '' })
    await get('/api/v1/things')
    expect(receivedRequests.map(({ minPosition }) => minPosition)).toEqual([7, 5, null])
  })

  test('a cursor shows nothing of its position', async () => {
    const cursors = [4, 5, 6, 1_000_000].map(options.cursors.write)
    expect(new Set(cursors).size).toBe(4)
    for (const cursor of cursors) expect(cursor).toMatch(/^[A-Za-z0-9_-]{22}$/)
    // The blocks of neighbours have nothing in common: plain positions would differ in one byte.
    const [four = [], five = []] = cursors.map((cursor) => [...Buffer.from(cursor, 'base64url')])
    expect(four.filter((byte, n) => byte === five[n]).length).toBeLessThan(4)
  })

  const cursor = options.cursors.write(7)
  const changed = Buffer.from(cursor, 'base64url')
  changed[15] = (changed[15] ?? 0) ^ 1

  test.each([
    'garbage',
    '7',
    'Ny==',
    'MzA1Mw',
    Buffer.from('1.5').toString('base64url'),
    'AAAAAAAAAAAAAAAAAAAAAA',
    changed.toString('base64url'),
    `${cursor}A`,
    `${cursor}=`,
    createCursors(Buffer.alloc(32, 1)).write(7),
  ])('svc-min-position %s is refused', async (sent) => {
    const { status, body } = await get('/api/v1/things', { ...bearer, 'svc-min-position': sent })
    expect([status, Object.keys(body.error.details)]).toEqual([400, ['svc-min-position']])
  })

  test('an idempotency key reaches a write if its format is valid', async () => {
    const key = 'k'.repeat(128)
    expect((await post('/api/v1/optional', '{}', { 'idempotency-key': key })).status).toBe(200)
    expect(receivedRequests[0]?.idempotencyKey).toBe(key)
    for (const wrong of [`${key}k`, 'two words'])
      expect((await post('/api/v1/optional', '{}', { 'idempotency-key': wrong })).body.error.details).toHaveProperty(
        'Idempotency-Key',
      )
  })

  test('bytes are sent unchanged, with the response’s own headers', async () => {
    const response = await fetch(`${base()}/api/v1/calls/${knownId}`, { headers: bearer })
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(prebuiltBody)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('a response without a body has no content', async () => {
    const response = await fetch(`${base()}/api/v1/gone`, { method: 'DELETE', headers: bearer })
    expect([response.status, await response.text()]).toEqual([204, ''])
  })

  test('any origin may read, and the preflight is kept for a day', async () => {
    const headers = {
      origin: 'https://console.example',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization',
    }
    const preflight = await fetch(`${base()}/api/v1/things`, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, '86400'])
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    const { response } = await get('/api/v1/things', { ...bearer, origin: 'https://console.example' })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toContain('svc-position')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})
