import { expect } from 'vitest'
import { LEASE } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, sendRequest, statusAndCode } from '../../support/e2e/api-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createPool, createVisitorClient } from '../../support/e2e/visitor-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const BASE = '/api/public/dni'
const UNKNOWN_KEY = `pk_${'0'.repeat(24)}`

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Site' }, [target])
  const numbers: { readonly numberId: string; readonly e164: string }[] = []
  for (let n = 0; n < 10; n += 1) numbers.push(await main.number())
  return { main, line, numbers }
}

const { it, describe, beforeAll, main, the, server, client } = suite('leases', world, {
  env: { TRUST_PROXY: 'true', OPERATOR_TOKEN },
})

const visitor = createVisitorClient(server)
const pools: Record<'one' | 'listed' | 'empty' | 'backed' | 'plain', { id: string; publicKey: string }> =
  Object.create(null)
const numberAt = (n: number) => the.numbers[n]?.numberId ?? ''
const change = (id: string, body: Json) => main.console(`/api/tracking/pools/${id}`, { method: 'PATCH', body })

beforeAll(async () => {
  const { campaignId } = the.line
  const make = (settings: Json, ids: readonly string[] = []) =>
    createPool(main.console, { campaignId, ...settings }, ids)
  pools.one = await make({ name: 'One' }, [numberAt(0), numberAt(1)])
  pools.listed = await make({ name: 'Listed', domains: ['example.com', '*.shop.example'] }, [numberAt(2)])
  pools.empty = await make({ name: 'Empty' })
  pools.plain = await make({ name: 'Plain', display: 'e164', ttlSeconds: 60 }, [numberAt(5), numberAt(6)])
  const body = { campaignId }
  await main.console(`/api/tracking/numbers/${numberAt(3)}`, { method: 'PATCH', body })
  pools.backed = await make({ name: 'Backed', fallbackNumberId: numberAt(3) }, [numberAt(4)])
})

describe('a lease', () => {
  it('gives a visitor a number, a session, and a name to come back by', async () => {
    const { status, body, headers } = await visitor.lease({ pool: pools.plain.publicKey })
    expect(status).toBe(200)
    const e164 = the.numbers.find((one) => one.e164 === body.number.e164)?.e164
    expect(body).toEqual({
      number: { e164, national: expect.stringMatching(/^\(\d{3}\) \d{3}-\d{4}$/), display: e164 },
      visitorId: expect.stringMatching(/^[A-Za-z0-9_-]{8,64}$/),
      sessionId: expect.stringMatching(/^\d{1,18}$/),
      ttlSeconds: 60,
      overflow: false,
    })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('of a visitor who is back is the same, and others get other numbers', async () => {
    const first = (await visitor.lease({ pool: pools.one.publicKey })).body
    const back = (await visitor.lease({ pool: pools.one.publicKey, visitorId: first.visitorId })).body
    expect(back).toEqual(first)
    const second = (await visitor.lease({ pool: pools.one.publicKey, visitorId: 'visitor-two' })).body
    expect(second).toMatchObject({ visitorId: 'visitor-two', overflow: false })
    expect(second.number.e164).not.toBe(first.number.e164)
    const third = (await visitor.lease({ pool: pools.one.publicKey })).body
    expect(third).toMatchObject({ overflow: true, sessionId: expect.stringMatching(/^\d+$/) })
    expect([first.sessionId, second.sessionId]).not.toContain(third.sessionId)
    expect((await visitor.lease({ pool: pools.one.publicKey, visitorId: third.visitorId })).body).toEqual(third)
  })

  it.each([
    ['is too short', 'seven-7', false],
    ['has the fewest characters', 'eight--8', true],
    ['has the most characters', 'v'.repeat(LEASE.visitorId.max), true],
    ['is too long', 'v'.repeat(LEASE.visitorId.max + 1), false],
    ['has other characters', 'visitor 1', false],
    ['is a number', 12_345_678, false],
    ['is null', null, false],
    ['is an object', { toString: 'visitor-1' }, false],
  ])('whose visitorId %s keeps it or replaces it', async (_what, visitorId, isKept) => {
    const { status, body } = await visitor.lease({ pool: pools.one.publicKey, visitorId })
    expect(status).toBe(200)
    expect(body.visitorId === visitorId).toBe(isKept)
  })

  it('takes what browsers send, whatever its media type', async () => {
    const text = JSON.stringify({ pool: pools.one.publicKey, visitorId: 'visitor-text' })
    for (const type of ['text/plain;charset=UTF-8', 'application/json', 'application/octet-stream']) {
      const headers = { 'content-type': type }
      const { status, body } = await sendRequest(`${server.baseUrl}${BASE}/lease`, {
        method: 'POST',
        headers,
        body: text,
      })
      expect([status, body.visitorId]).toEqual([200, 'visitor-text'])
    }
  })

  it('drops malformed extras', async () => {
    const extras = { url: 7, referrer: {}, params: 'x', more: [1], constructor: 1 }
    expect((await visitor.lease({ pool: pools.one.publicKey, ...extras })).status).toBe(200)
  })

  it.each([
    ['is missing', {}],
    ['is too short', { pool: 'pk_123' }],
    ['has capitals', { pool: `pk_${'A'.repeat(24)}` }],
    ['is too long', { pool: `pk_${'a'.repeat(25)}` }],
    ['is a number', { pool: 7 }],
    ['is inherited', '{"__proto__":{"pool":"pk_000000000000000000000000"}}'],
    ['is in no object', '[]'],
    ['is in no JSON', 'pool=pk_000000000000000000000000'],
    ['is in an empty body', ''],
  ])('whose pool %s is refused', async (_what, body) => {
    const answer = await visitor.lease(body)
    expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
    expect(Object.keys(answer.body.error.details)).toEqual(['pool'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('of an unknown pool, or by the key that a pool had before, is refused', async () => {
    expect(statusAndCode(await visitor.lease({ pool: UNKNOWN_KEY }))).toEqual([404, 'pool_not_found'])
    const { id, publicKey } = await createPool(main.console, { name: 'Turned', campaignId: the.line.campaignId })
    const rotated = await main.console(`/api/tracking/pools/${id}/key/rotate`, { method: 'POST' })
    expect(statusAndCode(await visitor.lease({ pool: publicKey }))).toEqual([404, 'pool_not_found'])
    expect(statusAndCode(await visitor.lease({ pool: rotated.body.pool.publicKey }))).toEqual([409, 'pool_empty'])
    await main.console(`/api/tracking/pools/${id}`, { method: 'DELETE' })
    const gone = await visitor.lease({ pool: rotated.body.pool.publicKey })
    expect(statusAndCode(gone)).toEqual([404, 'pool_not_found'])
  })

  it('of a pool without numbers that take calls is refused', async () => {
    expect(statusAndCode(await visitor.lease({ pool: pools.empty.publicKey }))).toEqual([409, 'pool_empty'])
  })

  it('of a paused pool is refused until it is active again', async () => {
    await change(pools.empty.id, { status: 'paused' })
    expect(statusAndCode(await visitor.lease({ pool: pools.empty.publicKey }))).toEqual([409, 'pool_paused'])
    await change(pools.empty.id, { status: 'active' })
    expect(statusAndCode(await visitor.lease({ pool: pools.empty.publicKey }))).toEqual([409, 'pool_empty'])
  })

  it('gets the fallback, and no session, when every number is held', async () => {
    expect((await visitor.lease({ pool: pools.backed.publicKey })).body.overflow).toBe(false)
    const { status, body } = await visitor.lease({ pool: pools.backed.publicKey })
    expect([status, body.sessionId, body.overflow]).toEqual([200, null, true])
    expect(body.number.e164).toBe(the.numbers[3]?.e164)
  })
})

describe('a pool with domains', () => {
  it.each([
    ['by Origin', { origin: 'https://example.com' }, 200],
    ['by Referer without Origin', { referer: 'https://a.shop.example/page' }, 200],
    ['by an Origin of another host', { origin: 'https://evil.test' }, 403],
    [
      'by Referer beside an Origin of another host',
      { origin: 'https://evil.test', referer: 'https://example.com/' },
      403,
    ],
    ['by Referer beside an opaque Origin', { origin: 'null', referer: 'https://example.com/' }, 403],
    ['by no header', {}, 403],
  ])('takes pages %s, at both routes', async (_what, page, status) => {
    const visitorId = 'visitor-listed'
    const answer = await visitor.lease({ pool: pools.listed.publicKey, visitorId }, page)
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.error.code).toBe('origin_not_allowed')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { body } = await visitor.lease({ pool: pools.listed.publicKey, visitorId }, { origin: 'https://example.com' })
    expect((await visitor.heartbeat({ sessionId: body.sessionId, visitorId }, page)).status).toBe(status)
  })
})

describe('a heartbeat', () => {
  it('pushes the end out by the full time to live', async () => {
    const { sessionId, visitorId } = (await visitor.lease({ pool: pools.plain.publicKey })).body
    const before = Date.now()
    const { status, body, headers } = await visitor.heartbeat({ sessionId, visitorId })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({ ok: true, expired: false, ttlSeconds: 60, expiresAt: expect.any(String) })
    expect(Date.parse(body.expiresAt)).toBeGreaterThanOrEqual(before + 60_000)
    expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + 60_000)
  })

  it('takes the session as a number as it is written, even one that numbers are not exact for', async () => {
    const { sessionId, visitorId } = (await visitor.lease({ pool: pools.plain.publicKey })).body
    const answer = await visitor.heartbeat(`{"sessionId": ${sessionId}, "visitorId": "${visitorId}"}`)
    expect(answer.body).toMatchObject({ ok: true, expired: false })
  })

  it.each([
    ['of another visitor', (own: Json) => ({ ...own, visitorId: 'another-visitor' })],
    ['of no session', (own: Json) => ({ ...own, sessionId: '1' })],
    ['of a session with a zero before it', (own: Json) => ({ ...own, sessionId: `0${own.sessionId}`.slice(0, 18) })],
  ])('%s is not found', async (_what, sent) => {
    const { sessionId, visitorId } = (await visitor.lease({ pool: pools.plain.publicKey })).body
    const answer = await visitor.heartbeat(sent({ sessionId, visitorId }))
    expect(statusAndCode(answer)).toEqual([404, 'session_not_found'])
  })

  it.each([
    ['without a session', { visitorId: 'visitor-1' }, 'sessionId'],
    ['with a session of 19 digits', { sessionId: '1'.repeat(19), visitorId: 'visitor-1' }, 'sessionId'],
    ['with a session that is no number', { sessionId: '12x', visitorId: 'visitor-1' }, 'sessionId'],
    ['with a negative session', { sessionId: -1, visitorId: 'visitor-1' }, 'sessionId'],
    ['with a broken number', { sessionId: 1.5, visitorId: 'visitor-1' }, 'sessionId'],
    ['without a visitor', { sessionId: '1' }, 'visitorId'],
    ['with a visitor of 65 characters', { sessionId: '1', visitorId: 'v'.repeat(65) }, 'visitorId'],
  ])('%s is refused', async (_what, body, field) => {
    const answer = await visitor.heartbeat(body)
    expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
    expect(Object.keys(answer.body.error.details)).toEqual([field])
  })

  it('of 18 digits, or of a visitor of 64 characters, is well formed', async () => {
    const answer = await visitor.heartbeat({ sessionId: '1'.repeat(18), visitorId: 'v'.repeat(64) })
    expect(statusAndCode(answer)).toEqual([404, 'session_not_found'])
  })

  it('of a paused or deleted pool, or of a key that was replaced, says that the lease expired', async () => {
    const { campaignId } = the.line
    const pool = await createPool(main.console, { name: 'Ended', campaignId }, [numberAt(7)])
    const lease = async () => (await visitor.lease({ pool: pool.publicKey })).body
    const { sessionId, visitorId } = await lease()
    await change(pool.id, { status: 'paused' })
    const paused = await visitor.heartbeat({ sessionId, visitorId })
    expect(paused.body).toMatchObject({ ok: true, expired: true, ttlSeconds: 1_800 })
    expect(Date.parse(paused.body.expiresAt)).toBeLessThanOrEqual(Date.now())
    await change(pool.id, { status: 'active' })
    const next = await lease()
    expect(next).toMatchObject({ overflow: false })
    await main.console(`/api/tracking/pools/${pool.id}`, { method: 'DELETE' })
    const deleted = await visitor.heartbeat({ sessionId: next.sessionId, visitorId: next.visitorId })
    expect(deleted.body).toMatchObject({ ok: true, expired: true })
  })
  it('of a number that takes no calls any more says that the lease expired, and its visitor gets another', async () => {
    const { campaignId } = the.line
    const pool = await createPool(main.console, { name: 'Unpaid', campaignId }, [numberAt(8), numberAt(9)])
    const { sessionId, visitorId, number } = (await visitor.lease({ pool: pool.publicKey })).body
    const id = the.numbers.find(({ e164 }) => e164 === number.e164)?.numberId
    for (const status of ['past_due', 'suspended']) {
      expect((await visitor.heartbeat({ sessionId, visitorId })).body.expired).toBe(false)
      const path = `/api/operator/numbers/${id}/status`
      expect((await client(OPERATOR_TOKEN)(path, { method: 'POST', body: { status } })).status).toBe(200)
    }
    expect((await visitor.heartbeat({ sessionId, visitorId })).body).toMatchObject({ ok: true, expired: true })
    const next = (await visitor.lease({ pool: pool.publicKey, visitorId })).body
    expect([next.overflow, next.number.e164 === number.e164]).toEqual([false, false])
  })
})
