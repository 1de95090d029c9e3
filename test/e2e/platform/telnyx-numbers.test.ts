import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { createApiClient, type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, startExpectingFailure, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { startTelnyxDouble } from '../../support/fixtures/telnyx-double.ts'

const fresh = () => freshEnvironment(embeddedStores)
/** An unused key: no webhook is sent. */
const PUBLIC_KEY = Buffer.alloc(32, 7).toString('base64')

const double = await startTelnyxDouble()
const { baseUrl, createWorld, close } = await openInProcessPlatform({
  ...fresh(),
  CARRIER_URL: 'telnyx:',
  TELNYX_API_KEY: double.apiKey,
  TELNYX_CONNECTION_ID: double.connectionId,
  TELNYX_API_BASE: double.apiBase,
  TELNYX_PUBLIC_KEY: PUBLIC_KEY,
})
afterAll(async () => {
  await close()
  await double.close()
})
const tenant = await createWorld((writer) =>
  createTenantWorkspace(writer, { name: 'Acme', planId: 'growth', fundCents: 1_000 }),
)
const ask = createApiClient(() => baseUrl, tenant.session)
const post = (path: string, body: Json) => ask(path, { method: 'POST', body })
const search = (body: Json = {}) => post('/api/tracking/numbers/search', body)

describe('a platform whose carrier is Telnyx', () => {
  test('is ready, and has no sandbox', async () => {
    await waitUntil('It is ready', async () => (await fetch(`${baseUrl}/readyz`)).status === 200)
    const { numberId: _id, e164: to } = await tenant.number()
    expect(statusAndCode(await post('/api/sandbox/calls', { to, mode: 'instant' }))).toEqual([404, 'not_found'])
  })

  test('searches and rents numbers at Telnyx, at its own prices', async () => {
    const found = await search({ areaCode: 310, contains: '3*0', limit: 2 })
    expect(found.status, found.text).toBe(200)
    expect(found.body.results).toHaveLength(2)
    const [{ e164, quoteToken, setupCents }] = found.body.results
    expect(e164).toMatch(/^\+1310\d*3\d0/)
    const requestId = randomUUID()
    const ordered = await post('/api/tracking/numbers/purchase', { e164, quoteToken, requestId })
    expect([201, 202], ordered.text).toContain(ordered.status)
    const number = await waitUntil('The number is there', async () => {
      const { body } = await ask(`/api/tracking/numbers?q=${e164.slice(1)}`)
      return body.data[0]
    })
    expect(number).toMatchObject({ e164, status: 'active', role: 'unassigned' })
    expect(double.numbers.get(e164)).toBe(double.connectionId)
    await waitUntil('The fee is charged', async () => {
      const { body } = await ask('/api/tracking/wallet')
      return body.balanceCents === 1_000 - setupCents && body.reservedCents === 0
    })
    expect(double.orders()).toBe(1)
  })

  test('passes the message of Telnyx on when it refuses or is unavailable', async () => {
    const errors = [{ code: '10015', title: 'Bad Request', detail: 'There is no such rate center.' }]
    double.failNext({ status: 422, body: { errors } })
    const refused = await search({ rateCenter: 'NOWHERE' })
    expect(statusAndCode(refused)).toEqual([502, 'upstream_error'])
    expect(refused.body.error.message).toBe('There is no such rate center.')
    double.failNext({ status: 503, body: 'down', contentType: 'text/plain' })
    const away = await search()
    expect(statusAndCode(away)).toEqual([502, 'upstream_error'])
    expect(away.body.error.message).toBe('The carrier answered 503.')
  })
})

describe('the configuration of Telnyx', () => {
  test.each([
    [{}, 'TELNYX_API_KEY'],
    [{ TELNYX_API_KEY: 'KEY' }, 'TELNYX_CONNECTION_ID'],
    [{ TELNYX_API_KEY: 'KEY', TELNYX_CONNECTION_ID: '1' }, 'TELNYX_PUBLIC_KEY'],
    [{ TELNYX_API_KEY: 'KEY', TELNYX_CONNECTION_ID: '1', TELNYX_PUBLIC_KEY: 'AAAA' }, 'TELNYX_PUBLIC_KEY'],
    [{ TELNYX_API_KEY: 'KEY', TELNYX_CONNECTION_ID: '1', TELNYX_API_BASE: 'nowhere' }, 'TELNYX_API_BASE'],
    [{ CARRIER_URL: 'twilio:' }, 'CARRIER_URL'],
  ])('%j is incomplete: one sentence names %s', async (env, name) => {
    const { code, stderr } = await startExpectingFailure({ ...fresh(), CARRIER_URL: 'telnyx:', ...env })
    expect(code).toBe(1)
    expect(stderr).toContain(name)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
