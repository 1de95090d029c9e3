import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { expect } from 'vitest'
import { API_KEY, REQUEST, STATES, TARGET } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  return { main, buyerId: await main.buyer({ name: 'Acme' }) }
}

const { it, describe, the, main, server, client } = suite('body sizes', world, { stores: 'embedded' })

describe('bodies', () => {
  const post = (path: string, bytes: number, token: string | null = null) =>
    client(token)(path, { method: 'POST', body: `{"email":"${'x'.repeat(bytes)}"}` })

  it.each(['/api/auth/sign-in', '/api/auth/password', '/api/auth/sign-out', '/api/tracking/users'])(
    '%s takes 16 KB',
    async (path) => {
      expect(statusAndCode(await post(path, 16 * 1024, the.main.session))).toEqual([413, 'payload_too_large'])
      expect((await post(path, 16 * 1024 - 100, the.main.session)).status).not.toBe(413)
    },
  )

  it('other routes take 2 MB', async () => {
    const buyers = '/api/tracking/buyers'
    expect(statusAndCode(await post(buyers, 2 * 1024 * 1024, the.main.session))).toEqual([413, 'payload_too_large'])
    // A connection that closes while its client still sends takes the answer with it.
    const large = httpRequest(`${server.baseUrl}${buyers}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${the.main.session}`, 'content-type': 'application/json' },
    })
    large.end(Buffer.alloc(20 * 1024 * 1024, ' '))
    const [{ statusCode, headers }] = await once(large, 'response')
    expect([statusCode, headers.connection === 'close']).toEqual([413, false])
    large.destroy()
    expect(statusAndCode(await post(buyers, 2 * 1024 * 1024 - 100, the.main.session))).toEqual([
      400,
      'validation_error',
    ])
  })

  it('1.4 MB of unknown fields are answered in a few words, with and without a credential', async () => {
    const fields = Array.from({ length: 150_000 }, (_, n) => `"k${n}":1`).join()
    for (const [path, token, status] of [
      ['/api/auth/sign-in', null, 413],
      ['/api/tracking/buyers', null, 401],
      ['/api/tracking/buyers', the.main.session, 400],
    ] as const) {
      const refused = await client(token)(path, { method: 'POST', body: `{${fields}}` })
      expect(refused.status).toBe(status)
      expect(refused.text.length).toBeLessThan(2_000)
    }
  })

  it('a refusal repeats 24 characters of what was sent', async () => {
    const long = 'k'.repeat(190)
    for (const rtb of [
      { bidHeaders: { [`svc-${long}`]: 'v' } },
      { [long]: 1 },
      { bidHeaders: { [`${long} `]: 'v' } },
    ]) {
      const refused = await main.console('/api/tracking/targets', {
        method: 'POST',
        body: { name: 'Long', buyerId: the.buyerId, type: 'rtb', rtb },
      })
      expect(refused.status, refused.text).toBe(400)
      expect(refused.text).not.toContain('k'.repeat(25))
    }
  })
})

/** Bodies whose long text passes its schema, or meets a check of its own. */
const LONG_TEXTS: readonly (readonly [string, string, (long: string) => Json])[] = [
  ['POST', 'campaigns', (long) => ({ name: 'Long', verticalId: 'roofing', states: [long] })],
  ['POST', 'campaigns', (long) => ({ name: 'Long', verticalId: long })],
  ['POST', 'campaigns', (long) => ({ name: 'Long', verticalId: 'roofing', timezone: `Europe/${long}`.slice(0, 64) })],
  [
    'POST',
    'campaigns',
    (long) => ({ name: 'Long', verticalId: 'roofing', hoursSchedule: { tz: 'UTC', days: { [long]: [] } } }),
  ],
  ['POST', 'buyers', (long) => ({ name: 'Long', timezone: long.slice(0, 64) })],
  ['POST', 'publishers', (long) => ({ name: 'Long', routingPrefix: long })],
  ['POST', 'api-keys', (long) => ({ name: 'Long', scopes: [long.slice(0, 40)] })],
  ['POST', 'api-keys', (long) => ({ name: 'Long', scopes: [], ipAllowlist: [`10.0.0.0/${long}`] })],
  ['POST', 'blocked-callers', (long) => ({ callerNumber: `+1${long}` })],
  ['POST', 'numbers/search', (long) => ({ areaCode: long, contains: long })],
  ['POST', 'numbers/purchase', (long) => ({ e164: `+1${long}`, quoteToken: long, requestId: long })],
  ['POST', 'users', (long) => ({ email: `${long}@x`, name: 'Long', role: long })],
  [
    'POST',
    'targets',
    (long) => ({ name: 'Long', buyerId: the.buyerId, type: 'rtb', rtb: { bidUrl: `https//${long}` } }),
  ],
  [
    'POST',
    'targets',
    (long) => ({ name: 'Long', buyerId: the.buyerId, type: 'rtb', rtb: { bidPath: `$.a[?@.${long}]` } }),
  ],
  [
    'POST',
    'targets',
    (long) => ({ name: 'Long', buyerId: the.buyerId, type: 'sip', endpoint: { sipUri: `sip:${long}` } }),
  ],
  [
    'POST',
    'targets',
    (long) => ({
      name: 'Long',
      buyerId: the.buyerId,
      type: 'rtb',
      tagFilters: [{ key: ` ${long}`, op: 'eq', value: long }],
    }),
  ],
]

describe('a refusal of a long text repeats 24 characters of it', () => {
  it.each(LONG_TEXTS.map(([method, path, bodyOf], n) => [`${method} ${path} (${n})`, method, path, bodyOf] as const))(
    '%s',
    async (_name, method, path, bodyOf) => {
      for (const length of [190, 100_000]) {
        const refused = await main.console(`/api/tracking/${path}`, { method, body: bodyOf('k'.repeat(length)) })
        expect([400, 404, 413], refused.text.slice(0, 300)).toContain(refused.status)
        expect(refused.text).not.toContain('k'.repeat(25))
        expect(refused.text.length).toBeLessThan(2_000)
      }
    },
  )
})

/** Every array of a body, with its path in the body, and a body that is right but for it. */
const ARRAYS: readonly (readonly [string, string, number, (items: readonly unknown[]) => Json])[] = [
  ['campaigns', 'states', STATES.max, (states) => ({ name: 'Long', verticalId: 'roofing', states })],
  ['targets', 'states', STATES.max, (states) => ({ name: 'Long', buyerId: the.buyerId, type: 'rtb', states })],
  [
    'targets',
    'tagFilters',
    TARGET.tagFilters,
    (tagFilters) => ({ name: 'Long', buyerId: the.buyerId, type: 'rtb', tagFilters }),
  ],
  ['api-keys', 'scopes', API_KEY.scopes, (scopes) => ({ name: 'Long', scopes })],
  ['api-keys', 'ipAllowlist', API_KEY.addresses, (ipAllowlist) => ({ name: 'Long', scopes: [], ipAllowlist })],
]

describe('an array past its maximum', () => {
  it.each(ARRAYS)('of %s, %s, is refused by its length alone', async (path, field, most, bodyOf) => {
    const send = (count: number) =>
      main.console(`/api/tracking/${path}`, { method: 'POST', body: bodyOf(Array.from({ length: count }, () => 1)) })
    for (const count of [most + 1, 500_000]) {
      const refused = await send(count)
      expect(statusAndCode(refused)).toEqual([400, 'validation_error'])
      expect(Object.entries(refused.body.error.details)).toEqual([[field, `must have at most ${most} items`]])
    }
    const within = await send(most)
    expect(statusAndCode(within)).toEqual([400, 'validation_error'])
    expect(Object.keys(within.body.error.details).every((name) => name.startsWith(`${field}.`))).toBe(true)
    expect(Object.keys(within.body.error.details).length).toBeLessThanOrEqual(REQUEST.problems)
  })
})

describe('the problems of a body', () => {
  it('are those of every field first, however many one field has', async () => {
    const unknown = Object.fromEntries(Array.from({ length: REQUEST.problems }, (_, n) => [`unknown${n}`, n]))
    const body = { name: 'P', campaignId: 1, params: [unknown, unknown], domains: 'all', display: 'none' }
    const refused = await main.console('/api/tracking/pools', { method: 'POST', body })
    expect(statusAndCode(refused)).toEqual([400, 'validation_error'])
    const named = Object.keys(refused.body.error.details)
    expect(named).toHaveLength(REQUEST.problems)
    expect(named).toEqual(expect.arrayContaining(['campaignId', 'params.0.key', 'domains', 'display']))
  })
})
