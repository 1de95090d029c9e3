import { expect } from 'vitest'
import { LEASE } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, sendRequest, statusAndCode } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createPool, createVisitorClient } from '../../support/e2e/visitor-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const BASE = '/api/public/dni'
const UNKNOWN_KEY = `pk_${'0'.repeat(24)}`

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Site' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  return { main, other, line, number: await main.number() }
}

const { it, describe, main, the, server, tenant } = suite('the edge of leases', world, { env: { TRUST_PROXY: 'true' } })

const visitor = createVisitorClient(server)

describe('the edge', () => {
  it('answers preflights of any origin, and has them kept for a day', async () => {
    const { status, headers } = await sendRequest(`${server.baseUrl}${BASE}/lease`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://anywhere.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toMatch(/\bGET\b.*\bPOST\b/)
    expect(headers.get('access-control-allow-headers')).toBe('content-type')
    expect(headers.get('access-control-max-age')).toBe('86400')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('serves the snippet, to be kept for an hour', async () => {
    const { status, headers, text } = await sendRequest(`${server.baseUrl}${BASE}/svcdni.js`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/javascript\b/)
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(text.length).toBeGreaterThan(0)
  })

  it('lets pages that require a policy of what they embed load the snippet, and says when it is the same', async () => {
    const url = `${server.baseUrl}${BASE}/svcdni.js`
    const full = await sendRequest(url)
    expect(full.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    const etag = full.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[^"]+"$/)
    const same = await sendRequest(url, { headers: { 'if-none-match': etag } })
    expect([same.status, same.text, same.headers.get('cache-control')]).toEqual([304, '', 'public, max-age=3600'])
    const head = await sendRequest(url, { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('cache-control')]).toEqual([200, '', 'public, max-age=3600'])
    expect(head.headers.get('content-type')).toBe(full.headers.get('content-type'))
  })

  it('lets pages read refusals', async () => {
    const origin = 'https://anywhere.test'
    for (const answer of [
      await visitor.lease({}, { origin }),
      await visitor.lease({ pool: UNKNOWN_KEY }, { origin }),
      await visitor.lease('x'.repeat(LEASE.bodyBytes + 1), { origin }),
      await visitor.heartbeat({ sessionId: '1', visitorId: 'visitor-1' }, { origin }),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  it('keeps no answer, whatever it is', async () => {
    for (const [path, method, status] of [
      ['/lease', 'GET', 405],
      ['/nothing', 'GET', 404],
      ['/svcdni.js', 'POST', 405],
    ] as const) {
      const answer = await sendRequest(`${server.baseUrl}${BASE}${path}`, { method })
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store'])
    }
  })

  it('reads bodies up to its limit', async () => {
    const body = (bytes: number) => {
      const rest = bytes - JSON.stringify({ pool: UNKNOWN_KEY, url: '' }).length
      return JSON.stringify({ pool: UNKNOWN_KEY, url: 'x'.repeat(rest) })
    }
    expect(statusAndCode(await visitor.lease(body(LEASE.bodyBytes)))).toEqual([404, 'pool_not_found'])
    for (const bytes of [LEASE.bodyBytes + 1, 10 * 1024 * 1024]) {
      const answer = await visitor.lease(body(bytes))
      expect(statusAndCode(answer)).toEqual([413, 'payload_too_large'])
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  it.each([
    ['IPv4 address', '192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['IPv6 network', '2001:db8:1:1::1', '2001:db8:1:1:ffff::2', '2001:db8:1:2::1'],
  ])(`takes ${LEASE.requestsPerMinute} requests a minute of one %s`, async (_what, one, same, other) => {
    const ask = (from: string) => visitor.lease({ pool: UNKNOWN_KEY }, { from })
    const first = await Promise.all(Array.from({ length: LEASE.requestsPerMinute }, () => ask(one)))
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([404]))
    const { status, headers, text, body } = await ask(same)
    expect([status, body]).toEqual([429, null])
    expect(headers.get('content-type')).toMatch(/^text\/plain\b/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(text.trim()).toMatch(/^[A-Z][^.]*\.?$/)
    expect((await visitor.heartbeat({}, { from: same })).status).toBe(429)
    expect((await ask(other)).status).toBe(404)
  })
})

describe('leases on the console', () => {
  it('are listed newest first, with their pages and parameters, and counted', async () => {
    const pool = await createPool(
      main.console,
      { name: 'Shown', campaignId: the.line.campaignId, params: [{ key: 'utm_', prefix: true }, { key: 'gclid' }] },
      [the.number.numberId],
    )
    const page = { url: 'https://example.com/a', referrer: 'https://search.test/' }
    const params = { gclid: ['g', 'h'], UTM_Source: 'ads', other: '1' }
    const first = (await visitor.lease({ pool: pool.publicKey, ...page, params })).body
    const second = (await visitor.lease({ pool: pool.publicKey, visitorId: 'visitor-second' })).body
    const list = (query = '') => main.console(`/api/tracking/pools/${pool.id}/leases${query}`)
    await waitUntil('Both leases are listed', async () => (await list()).body.total === 2)
    const { body } = await list()
    expect(body.data.map(({ sessionId }: Json) => sessionId)).toEqual([second.sessionId, first.sessionId])
    expect(body.data[1]).toEqual({
      sessionId: first.sessionId,
      visitorId: first.visitorId,
      number: { id: the.number.numberId, e164: first.number.e164 },
      overflow: false,
      ...page,
      params: { utm_source: 'ads', gclid: 'g' },
      status: 'live',
      takenAt: expect.any(String),
      endedAt: null,
      endReason: null,
    })
    expect((await list('?status=ended')).body.total).toBe(0)
    expect((await list('?visitorId=visitor-second')).body.total).toBe(1)
    expect((await main.console(`/api/tracking/pools/${pool.id}`)).body.pool.counts).toEqual({ numbers: 1, leased: 1 })
    await main.console(`/api/tracking/pools/${pool.id}`, { method: 'PATCH', body: { status: 'paused' } })
    await waitUntil('No lease is live', async () => (await list('?status=live')).body.total === 0)
    const ended = (await list('?status=ended')).body.data
    expect(ended.map(({ endReason }: Json) => endReason)).toEqual(['pool_paused', 'pool_paused'])
    expect((await main.console(`/api/tracking/pools/${pool.id}`)).body.pool.counts).toEqual({ numbers: 1, leased: 0 })
    const theirs = await tenant((it) => it.other).console(`/api/tracking/pools/${pool.id}/leases`)
    expect(statusAndCode(theirs)).toEqual([404, 'not_found'])
  })
})
