import { once } from 'node:events'
import { get } from 'node:http'
import { ulid } from 'ulid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { type HttpServer, openHttpServer } from '../../src/adapters/http/server.ts'
import { createCursors } from '../../src/main/cursors.ts'
import type { ApiRoute } from '../../src/ports/api.ts'
import { createRateLimiter } from '../../src/runtime/rates/rate-limiter.ts'

/** What happened to the streams, in order. */
const received: string[] = []
const encoder = new TextEncoder()
const CHUNK = 'x'.repeat(64 * 1024)

async function* finite() {
  yield encoder.encode('a,b\r\n')
  yield encoder.encode('1,2\r\n')
}

async function* broken() {
  yield encoder.encode('a,b\r\n')
  throw new Error('the source is unavailable')
}

const unbegun = (): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the source was never there')) }),
})

/** Goes on until nobody listens. */
async function* endless() {
  try {
    for (;;) yield encoder.encode(CHUNK)
  } finally {
    received.push('let go')
  }
}

function route(name: string, body: () => AsyncIterable<Uint8Array>): ApiRoute {
  return {
    method: 'GET',
    path: `/api/tracking/${name}.csv`,
    surface: 'console',
    scope: null,
    write: false,
    name,
    summary: 'A file.',
    params: z.object({}),
    query: z.object({}),
    body: null,
    responses: { 200: z.string() },
    contentType: 'text/csv',
    rejects: [],
    run: async () => ({
      status: 200,
      body: body(),
      position: 7,
      headers: { 'content-type': 'text/csv; charset=utf-8' },
    }),
  }
}

const still = { now: () => 0, schedule: () => () => undefined }

let server: HttpServer
let base: string
beforeAll(async () => {
  server = await openHttpServer({
    title: 'Streams',
    version: '1',
    routes: [route('finite', finite), route('broken', broken), route('unbegun', unbegun), route('endless', endless)],
    authenticate: async () => ({
      actor: { type: 'user', id: 'u', name: 'User' },
      tenant: { workspaceId: 'w', timezone: 'UTC' },
      credentialId: 'user:u',
      ratePerMinute: null,
    }),
    readiness: async () => ({ ready: true, problems: [], warnings: [] }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    metricsToken: null,
    cursors: createCursors(Buffer.alloc(32)),
    position: () => 0,
    log: openLogger({ level: 'silent' }),
    limiter: createRateLimiter(still),
    clock: still,
    random: {
      bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      seed: () => 1,
      uuid: () => crypto.randomUUID(),
      ulid,
    },
    trustProxy: false,
    unavailableAfterSeconds: 1,
    pressure: {},
  })
  base = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/api/tracking`
})
afterAll(() => server.close(1_000))

test('a stream is sent as it comes, under its own type', async () => {
  const response = await fetch(`${base}/finite.csv`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(response.headers.get('svc-position')).not.toBeNull()
  expect(response.headers.get('content-length')).toBeNull()
  expect(await response.text()).toBe('a,b\r\n1,2\r\n')
})

test('a stream that fails under way drops the connection: a part is not taken for the whole', async () => {
  const response = await fetch(`${base}/broken.csv`)
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

test('a stream that fails before its first byte gives no file', async () => {
  const answer = await fetch(`${base}/unbegun.csv`).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    () => null,
  )
  expect(answer?.status ?? 500).toBe(500)
  expect(answer?.text ?? '').not.toContain('never there')
})

test('a reader who leaves ends the stream', async () => {
  const request = get(`${base}/endless.csv`)
  const [response] = await once(request, 'response')
  await once(response, 'data')
  request.destroy()
  for (let turn = 0; turn < 10_000 && received.length === 0; turn += 1) await new Promise((next) => setImmediate(next))
  expect(received).toEqual(['let go'])
})

test('the documentation names the media type', () => {
  expect(JSON.stringify(server.openapi())).toContain('"text/csv"')
})
