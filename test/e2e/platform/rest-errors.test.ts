import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, createApiClient } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createKeyClient } from '../../support/e2e/key-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/v1/campaigns'
const READS = ['numbers', 'blocked-callers', 'buyers', 'publishers', 'campaigns', 'targets', 'calls', 'calls/live']

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const small = await createTenantWorkspace(writer, { name: 'Small', planId: 'growth' })
  await cancelSubscription(lapsed)
  return { main, lapsed, small }
}

const { it, describe, the, server } = suite('errors common to REST', world, {
  stores: 'embedded',
  env: { OPERATOR_TOKEN },
})
const keyClient = createKeyClient(server, () => the.main.session)

const ask = (token: string | null, path = PATH, headers: Readonly<Record<string, string>> = {}) =>
  createApiClient(() => server.baseUrl, token)(path, { headers })
const code = ({ status, body }: ApiResponse) => [status, body?.error?.code]
const details = ({ body }: ApiResponse) => body.error.details

it(documentLine('REST 401 missing_key'), async () => {
  for (const path of READS.map((read) => `/api/v1/${read}`)) {
    const answer = await ask(null, path)
    expect([code(answer), details(answer), answer.headers.get('www-authenticate')]).toEqual([
      [401, 'missing_key'],
      null,
      'Bearer',
    ])
  }
  for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic abc', the.main.key ?? ''])
    expect(code(await ask(null, PATH, { authorization }))).toEqual([401, 'missing_key'])
})

it(documentLine('REST 401 invalid_key'), async () => {
  const { id, secret } = await keyClient.create()
  const strangers = ['x', 'svc_live_', `${secret}x`, secret.slice(0, -1), secret.toUpperCase(), the.main.session]
  for (const token of strangers) expect(code(await ask(token))).toEqual([401, 'invalid_key'])
  await keyClient.send('POST', `/${id}/rotate`, { graceMinutes: 0 })
  expect(code(await ask(secret))).toEqual([401, 'invalid_key'])
  const revoked = await keyClient.create()
  await keyClient.send('DELETE', `/${revoked.id}`)
  const answer = await ask(revoked.secret)
  expect([code(answer), details(answer)]).toEqual([[401, 'invalid_key'], null])
  expect(answer.headers.get('ratelimit')).toBeNull()
})

it(documentLine('REST 402 subscription_inactive'), async () => {
  for (const path of READS.map((read) => `/api/v1/${read}`)) {
    const answer = await ask(the.lapsed.key, path)
    expect([code(answer), details(answer)]).toEqual([
      [402, 'subscription_inactive'],
      { status: 'canceled', planId: 'scale', agencyId: the.lapsed.workspaceId },
    ])
  }
})

it(documentLine('REST 402 plan_upgrade_required'), async () => {
  const small = createKeyClient(server, the.small.session)
  const { secret } = await small.create({ scopes: [] })
  expect(code(await ask(secret))).toEqual([403, 'insufficient_scope'])
  const operator = createApiClient(() => server.baseUrl, OPERATOR_TOKEN)
  const path = `/api/operator/workspaces/${the.small.workspaceId}`
  const moved = await operator(path, { method: 'PATCH', body: { planId: 'starter' } })
  expect(moved.status, moved.text).toBe(200)
  const answer = await ask(secret)
  expect([code(answer), details(answer)]).toEqual([[402, 'plan_upgrade_required'], { feature: 'apiAccess' }])
})

it(documentLine('REST 403 insufficient_scope'), async () => {
  const { secret } = await keyClient.create({ scopes: ['campaigns:read', 'blocklist:write'] })
  const answer = await ask(secret, '/api/v1/buyers')
  expect([code(answer), details(answer)]).toEqual([
    [403, 'insufficient_scope'],
    { required: ['buyers:read'], held: ['campaigns:read', 'blocklist:write'] },
  ])
  expect((await ask(secret)).status).toBe(200)
  expect((await ask(secret, '/api/v1/blocked-callers')).status).toBe(200)
})

it(documentLine('REST 403 ip_not_allowed'), async () => {
  const { secret } = await keyClient.create({ ipAllowlist: ['203.0.113.0/24'] })
  const answer = await ask(secret)
  expect([code(answer), details(answer)]).toEqual([[403, 'ip_not_allowed'], null])
  const within = await keyClient.create({ ipAllowlist: ['203.0.113.0/24', '127.0.0.1'] })
  expect((await ask(within.secret)).status).toBe(200)
})

it('403 workspace_required', async () => {
  const operator = createApiClient(() => server.baseUrl, OPERATOR_TOKEN)
  const created = await operator('/api/operator/keys', {
    method: 'POST',
    body: { name: 'Staff', scopes: ['calls:read'] },
  })
  expect(created.status, created.text).toBe(201)
  const answer = await ask(created.body.key)
  expect([code(answer), details(answer)]).toEqual([[403, 'workspace_required'], null])
  expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=120;w=60')
})

it(documentLine('REST 429 rate_limited'), async () => {
  const { secret } = await keyClient.create({ rateLimitPerMinute: 1 })
  expect((await ask(secret)).status).toBe(200)
  const answer = await ask(secret, `${PATH}/nonsense`)
  expect([code(answer), details(answer)]).toEqual([[429, 'rate_limited'], null])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
})

it(documentLine('limit: Request body'), async () => {
  const largest = 2 * 1024 * 1024
  const padded = (bytes: number) => JSON.stringify({ name: 'Padded', scopes: [] }).padEnd(bytes)
  expect((await keyClient.send('POST', '', padded(largest))).status).toBe(201)
  const refused = await keyClient.send('POST', '', padded(largest + 1))
  expect([code(refused), details(refused)]).toEqual([[413, 'payload_too_large'], null])
})

describe('where a request comes from', () => {
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })

  it(documentLine('limit: IP allowlist'), async () => {
    const addresses = (count: number) => Array.from({ length: count }, (_, n) => `198.51.100.${n}`)
    expect((await keyClient.create({ ipAllowlist: addresses(50) })).apiKey.ipAllowlist).toHaveLength(50)
    for (const ipAllowlist of [addresses(51), ['2001:db8::/64'], ['10.0.0.0/33'], ['fe80::1%eth0'], ['host'], [4]]) {
      const refused = await keyClient.send('POST', '', { name: 'Key', scopes: [], ipAllowlist })
      expect(code(refused)).toEqual([400, 'validation_error'])
    }
    for (const entry of ['127.0.0.1', '127.0.0.0/8', '0.0.0.0/0', '::ffff:127.0.0.1', '0:0:0:0:0:FFFF:7f00:1'])
      expect(await keyClient.statusAndCode((await keyClient.create({ ipAllowlist: [entry] })).secret), entry).toEqual([
        200,
      ])
    for (const entry of ['127.0.0.2', '128.0.0.0/1', '::1'])
      expect(await keyClient.statusAndCode((await keyClient.create({ ipAllowlist: [entry] })).secret), entry).toEqual([
        403,
        'ip_not_allowed',
      ])
  })

  it('the source address of a request is used from a trusted hop only', async () => {
    const range = await keyClient.create({ ipAllowlist: ['203.0.113.0/24'] })
    const six = await keyClient.create({ ipAllowlist: ['2001:db8::1'] })
    const here = await keyClient.create({ ipAllowlist: ['127.0.0.1'] })
    const tried = async (secret: string, forwarded: string) => (await ask(secret, PATH, from(forwarded))).status
    expect(await tried(range.secret, '203.0.113.9')).toBe(403)
    expect(await tried(here.secret, '203.0.113.9')).toBe(200)
    for (const TRUST_PROXY of ['1', 'loopback, 10.0.0.0/8']) {
      await server.restart({ TRUST_PROXY })
      expect(await tried(range.secret, '203.0.113.9'), TRUST_PROXY).toBe(200)
      expect(await tried(range.secret, '203.0.113.9, 198.51.100.7')).toBe(403)
      expect(await tried(range.secret, '198.51.100.7, 203.0.113.9')).toBe(200)
      expect(await tried(range.secret, '::ffff:203.0.113.9')).toBe(200)
      expect(await tried(six.secret, '2001:0DB8:0:0:0:0:0:1')).toBe(200)
      expect(await tried(six.secret, '2001:db8::2')).toBe(403)
      expect(await tried(here.secret, 'unknown')).toBe(200)
      expect(await tried(range.secret, 'unknown')).toBe(403)
    }
  })
})
