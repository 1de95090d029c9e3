import { expect, onTestFinished } from 'vitest'
import { SANDBOX_LANDING } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createApiClient, type Json, sendRequest, statusAndCode } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createPool, createVisitorClient } from '../../support/e2e/visitor-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PAGE = '/sandbox/landing'
const CALLS = '/api/sandbox/landing/calls'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Site' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  return { main, line, number: await main.number() }
}

const { it, main, the, server } = suite('the demo page', world, { env: { TRUST_PROXY: 'true' } })

const visitor = createVisitorClient(server)
const get = (path: string, method = 'GET') => sendRequest(`${server.baseUrl}${path}`, { method })
const place = (body: Json, from = '192.0.2.1') =>
  sendRequest(`${server.baseUrl}${CALLS}`, { method: 'POST', body, headers: { 'x-forwarded-for': from } })
const read = (callId: string, sessionId: string) => get(`${CALLS}/${callId}?sessionId=${sessionId}`)
const leaseOf = async (visitorId: string, params: Json) =>
  (await visitor.lease({ pool: server.sandbox.poolKey, visitorId, params })).body

it('shows the line of the sandbox’s pool, under a policy that allows nothing inline', async () => {
  const { status, headers, text } = await get(PAGE)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(text).toContain(
    `<script async src="/api/public/dni/svcdni.js" data-pool="${server.sandbox.poolKey}"></script>`,
  )
  const policy = headers.get('content-security-policy')
  expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/)
  expect(policy).not.toContain('unsafe')
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\bstyle=|\bon[a-z]+=/)
  for (const secret of ['apiKey', 'sessionToken', 'routingKey', 'ownerPassword'] as const)
    expect(text).not.toContain(server.sandbox[secret])
  for (const [path, type] of [
    [`${PAGE}.css`, 'text/css; charset=utf-8'],
    [`${PAGE}.js`, 'text/javascript; charset=utf-8'],
  ] as const) {
    expect(text).toContain(`"${path}"`)
    const file = await get(path)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, type])
  }
  expect((await get(PAGE, 'HEAD')).status).toBe(200)
})

it('places a call on the number of its visitor, without a credential, and reads it with the visitor’s tags', async () => {
  const { sessionId, visitorId, number } = await leaseOf('visitor-lands', { utm_source: 'radio', gclid: '1' })
  const placed = await place({ sessionId, visitorId })
  expect([placed.status, Object.keys(placed.body)]).toEqual([201, ['callId', 'ref']])
  const call = await waitUntil('The call has ended', async () => {
    const { body } = await read(placed.body.callId, sessionId)
    return body?.call && body.call.outcome !== 'live' && body.call
  })
  expect(call).toMatchObject({ dialedNumber: number.e164, dniSessionId: sessionId, numberPoolId: expect.any(String) })
  expect([call.tags.utm_source, call.tagSources.utm_source, call.tags.gclid]).toEqual(['radio', 'dni', undefined])
  expect(call.story.steps.map(({ step }: Json) => step)).toEqual(expect.arrayContaining(['incoming', 'dial', 'ended']))
  expect(Object.keys(call)).not.toContain('revenueCents')
  expect(statusAndCode(await read(placed.body.callId, '1'))).toEqual([404, 'not_found'])
  expect((await get(`${CALLS}/${placed.body.callId}`)).status).toBe(400)
})

it('places no call for another visitor, another pool or a lease that is over, and reads no other call', async () => {
  const { sessionId, visitorId, number } = await leaseOf('visitor-other', {})
  expect(statusAndCode(await place({ sessionId, visitorId: 'visitor-wrong' }))).toEqual([404, 'session_not_found'])
  expect((await place({ sessionId })).status).toBe(400)
  const named = await place({ sessionId, visitorId, to: the.line.e164 })
  expect((await read(named.body.callId, sessionId)).body.call.dialedNumber).toBe(number.e164)
  const theirs = await createPool(main.console, { name: 'Theirs', campaignId: the.line.campaignId }, [
    the.number.numberId,
  ])
  const elsewhere = (await visitor.lease({ pool: theirs.publicKey })).body
  const refused = await place({ sessionId: elsewhere.sessionId, visitorId: elsewhere.visitorId })
  expect(statusAndCode(refused)).toEqual([404, 'session_not_found'])
  const ask = createApiClient(() => server.baseUrl, server.sandbox.sessionToken)
  const own = await ask('/api/sandbox/calls', {
    method: 'POST',
    body: { to: server.sandbox.numbers[0]?.e164, mode: 'instant' },
  })
  expect(own.status).toBe(201)
  expect((await read(own.body.callId, sessionId)).status).toBe(404)
  const [pool] = (await ask('/api/tracking/pools')).body.data
  const change = (status: string) => ask(`/api/tracking/pools/${pool.id}`, { method: 'PATCH', body: { status } })
  await change('paused')
  await waitUntil('The lease is over', async () => (await place({ sessionId, visitorId }, '192.0.2.9')).status === 404)
  await change('active')
})

it('places so many calls a minute for one source', async () => {
  const sent = { sessionId: '1', visitorId: 'visitor-one' }
  const from = '192.0.2.77'
  for (let n = 0; n < SANDBOX_LANDING.callsPerMinute; n += 1) expect((await place(sent, from)).status).toBe(404)
  const answer = await place(sent, from)
  expect(statusAndCode(answer)).toEqual([429, 'rate_limited'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect((await place(sent, '192.0.2.78')).status).toBe(404)
})

it('is not there in production, whatever the carrier', async () => {
  const { baseUrl, close } = await openInProcessPlatform({
    ...freshEnvironment(embeddedStores),
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32, 'landing').toString('base64'),
    CARRIER_URL: 'simulator:',
  })
  onTestFinished(close)
  const ask = createApiClient(() => baseUrl, null)
  for (const path of [PAGE, `${PAGE}.js`, `${PAGE}.css`]) expect((await ask(path)).status).toBe(404)
  expect((await ask(CALLS, { method: 'POST', body: {} })).status).toBe(404)
})
