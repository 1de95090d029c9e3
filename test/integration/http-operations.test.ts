import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as turnOfTimers } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { openHttpServer } from '../../src/adapters/http/server.ts'
import { bearer, fixedClock, httpEdge, logLines, options, samples, someRoute } from '../support/fixtures/http-edge.ts'
import { codesOf, resolveReference } from '../support/openapi/references.ts'

const { base, get, server } = httpEdge()

describe('operations', () => {
  test('health, readiness and metrics are served', async () => {
    expect((await get('/healthz', {})).body).toEqual({ status: 'ok' })
    const { status, body } = await get('/readyz', {})
    expect([status, body]).toEqual([503, { ready: false, problems: ['call-log lags by 6 s.'], warnings: [] }])
    const metrics = await fetch(`${base()}/metrics`, { headers: { authorization: 'Bearer scrape-me' } })
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

  test('each request writes one log line, without query, credential or phone number', async () => {
    logLines.length = 0
    samples.length = 0
    const { response } = await get('/api/v1/things?caller=%2B13125550123&page=2', {
      authorization: 'Bearer good',
      'svc-request-id': '+13125550123',
    })
    await vi.waitFor(() => expect(samples).toHaveLength(1))
    expect(samples[0]).toMatchObject({ method: 'GET', route: '/api/v1/things', status: 200, ms: expect.any(Number) })
    expect(logLines).toHaveLength(1)
    expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
      requestId: '+•••0123',
      method: 'GET',
      route: '/api/v1/things',
      status: 200,
    })
    expect(logLines[0]).not.toMatch(/good|page|3125550123/)
    expect(response.status).toBe(200)
  })

  test('probes and scrapes are neither logged nor measured', async () => {
    logLines.length = 0
    samples.length = 0
    for (const path of ['/healthz', '/readyz', '/metrics', '/healthz?page=2']) await get(path, {})
    // Answers of one connection after the other: those of the probes have been reported when this one has.
    await get('/api/v1/things', { authorization: 'Bearer good' })
    await vi.waitFor(() => expect(samples).toHaveLength(1))
    expect(samples.map(({ route }) => route)).toEqual(['/api/v1/things'])
    expect(logLines).toHaveLength(1)
  })

  test('the log redacts phone numbers and secrets', () => {
    logLines.length = 0
    options.log.info(
      {
        headers: { authorization: 'Bearer svc_live_abcdefghijkl' },
        note: 'svc_live_abcdefghijkl called +442071838750',
      },
      'x',
    )
    expect(logLines[0]).not.toMatch(/abcdefghijkl|442071838750/)
    expect(logLines[0]).toContain('+•••8750')
  })

  test('under pressure requests are refused as unavailable, and probes are still answered', async () => {
    const pressed = await openHttpServer({ ...options, pressure: { maxRssBytes: 1, sampleInterval: 10 } })
    const ask = (url: string) => pressed.inject({ url, headers: bearer })
    await vi.waitFor(async () => expect((await ask('/api/v1/things')).statusCode).toBe(503), { interval: 5 })
    const response = await ask('/api/v1/things')
    expect([response.json().error.code, response.headers['retry-after']]).toEqual(['unavailable', '3'])
    // A page of another origin may read that it is to come again.
    expect(response.headers['access-control-allow-origin']).toBe('*')
    expect((await ask('/healthz')).statusCode).toBe(200)
    await pressed.close(0)
  })

  test('a process that was busy since its pressure is measured answers requests', async () => {
    const opened = await openHttpServer({ ...options, pressure: { maxEventLoopDelay: 5_000, sampleInterval: 10 } })
    const statuses = new Set<number>()
    for (let turn = 0; turn < 5; turn++) {
      // Longer than a sample, as the rest of a start is: the first one then holds no delay.
      const end = performance.now() + 20
      while (performance.now() < end);
      await turnOfTimers()
      statuses.add((await opened.inject({ url: '/api/v1/things', headers: bearer })).statusCode)
    }
    expect([...statuses]).toEqual([200])
    await opened.close(0)
  })

  test('a port in use is reported in one sentence', async () => {
    const port = Number(new URL(base()).port)
    const other = await openHttpServer(options)
    await expect(other.listen(port, '127.0.0.1')).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another process is already listening there.`,
    )
    await other.close(0)
  })

  test('a stop finishes accepted requests', async () => {
    const gate = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const slow = someRoute({
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

  test('a stop closes connections whose requests exceed the grace period', async () => {
    const arrived = Promise.withResolvers<void>()
    const stuck = someRoute({
      path: '/api/v1/stuck',
      name: 'stuck',
      run: () => {
        arrived.resolve()
        return new Promise(() => undefined)
      },
    })
    const clock = {
      now: () => 0,
      schedule: (_instant: number, wake: () => void) => {
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

  test('a stop does not wait for connections without a request', async () => {
    const stopping = await openHttpServer({ ...options, routes: [], clock: fixedClock })
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
  test('lists every route with its responses and refusals by status', async () => {
    const { body } = await get('/openapi.json', {})
    expect(body).toEqual(JSON.parse(JSON.stringify(server().openapi())))
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Test API', version: '1.2.3' } })
    const { get: list, post: make } = body.paths['/api/v1/things']
    expect(list).toMatchObject({
      operationId: 'list-things',
      tags: ['REST: Other'],
      security: [{ key: ['calls:read'] }],
      summary: 'A route.',
    })
    expect(list.parameters).toContainEqual(
      expect.objectContaining({
        in: 'query',
        name: 'minTalk',
        schema: { type: 'integer', minimum: 0, maximum: 86_400 },
      }),
    )
    expect(resolveReference(body, make.requestBody.content['application/json'].schema)).toMatchObject({
      additionalProperties: false,
      required: ['name'],
    })
    const call = body.paths['/api/v1/calls/{id}'].get
    expect(Object.keys(call.responses)).toEqual(['200', '400', '401', '402', '403', '404', '409', '429', '500', '503'])
    const codes = (status: number) => codesOf(body, call.responses[status])
    expect(codes(401)).toEqual(['invalid_key', 'missing_key'])
    expect(codes(404)).toEqual(['not_found'])
    expect(body.paths['/api/public/lease'].post.security).toEqual([])
    expect(Object.keys(body.paths)).not.toContain('/healthz')
  })

  test.each([
    ['/openapi.json', 'application/json'],
    ['/docs/json', 'application/json'],
    ['/docs/yaml', 'application/x-yaml'],
    ['/docs', 'text/html'],
    ['/docs/reference.js', 'text/javascript'],
  ])('%s is made once, compressed, and not sent again to who has it', async (path, type) => {
    const ask = (headers: Record<string, string>) => fetch(`${base()}${path}`, { headers })
    const texts = new Set<string>()
    const tags = new Set<string | null>()
    for (const [accepted, coding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, *;q=0.5', 'gzip'],
      ['identity', null],
    ] as const) {
      const response = await ask({ 'accept-encoding': accepted })
      expect([response.status, response.headers.get('content-encoding')]).toEqual([200, coding])
      expect(response.headers.get('content-type')).toContain(type)
      expect(response.headers.get('vary')).toContain('accept-encoding')
      texts.add(await response.text())
      const etag = response.headers.get('etag')
      tags.add(etag)
      const again = await ask({ 'accept-encoding': accepted, 'if-none-match': `"other", W/${etag}` })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
    expect([texts.size, tags.size]).toEqual([1, 3])
    const head = await fetch(`${base()}${path}`, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('a document is made at its first request, and once for requests at the same time', async () => {
    let made = 0
    const baseUrl = () => {
      made += 1
      return 'https://api.example'
    }
    const documented = await openHttpServer({ ...options, baseUrl })
    const before = made
    const ask = async () => (await documented.inject('/openapi.json')).body
    const [first, ...others] = [...(await Promise.all([ask(), ask()])), await ask()]
    expect(others).toEqual([first, first])
    expect(made - before).toBe(1)
    await documented.close(0)
  })

  test.each(['/docs', '/docs/'])('%s is a page that leaves out what the platform lacks', async (path) => {
    const page = await fetch(`${base()}${path}`)
    expect([page.status, page.headers.get('x-frame-options')]).toEqual([200, 'SAMEORIGIN'])
    const html = await page.text()
    expect(html).toContain('Test API')
    expect(html).toContain('<code>/api/v1</code>')
    expect(html).not.toMatch(/id="sandbox"|<code>\/api\/(sandbox|operator)<\/code>/)
    expect(await (await fetch(`${base()}/`, { headers: { accept: 'text/html' } })).text()).not.toContain('sandbox')
  })
})
