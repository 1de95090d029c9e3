import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiResponse,
  createApiClient,
  errorWithoutRequestId,
  type Json,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createKeyClient, type KeyClient } from '../../support/e2e/key-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const FORM = /^svc_live_[A-Za-z0-9_-]{43}$/
const MINUTE = 60_000

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', sandbox: false })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const growth = await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' })
  const starter = await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' })
  return { main, other, growth, starter }
}

const { it, describe, beforeAll, the, server } = suite('API keys', world)
const keyClient = createKeyClient(server, () => the.main.session)

const code = ({ status, body }: ApiResponse) => [status, body?.error?.code]
const names = ({ body }: ApiResponse) => body.data.map(({ name }: Json) => name)

describe('a new key', () => {
  it('shows its secret once, and works at once', async () => {
    const { apiKey, secret, id } = await keyClient.create({
      name: ' Reports ',
      scopes: ['campaigns:read', 'campaigns:read'],
    })
    expect(secret).toMatch(FORM)
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Reports',
      prefix: secret.slice(0, 12),
      scopes: ['campaigns:read'],
      ipAllowlist: [],
      rateLimitPerMinute: 120,
      status: 'active',
      createdBy: { type: 'user', id: expect.any(String), name: 'Main owner' },
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      lastUsedAt: null,
      revokesAt: null,
    })
    expect(await keyClient.statusAndCode(secret)).toEqual([200])
    expect(await keyClient.read(id)).toMatchObject({ name: 'Reports' })
    const everywhere = [await keyClient.send('GET', ''), await keyClient.send('GET', `/${id}`)]
    for (const { text } of everywhere) expect(text).not.toContain(secret.slice(12))
  })

  it('has the sandbox prefix in a sandbox workspace', async () => {
    const sandbox = createKeyClient(server, server.sandbox.sessionToken)
    expect((await sandbox.create({ name: 'Trial' })).secret).toMatch(/^svc_test_[A-Za-z0-9_-]{43}$/)
  })

  it('is refused with each problem under its field', async () => {
    const refused = await keyClient.send('POST', '', {
      scopes: ['campaigns:read', 'blocklist:read', 'all'],
      ipAllowlist: ['2001:db8::/32'],
      rateLimitPerMinute: 0,
      status: 'active',
    })
    expect(code(refused)).toEqual([400, 'validation_error'])
    expect(Object.keys(refused.body.error.details).sort()).toEqual([
      'ipAllowlist.0',
      'name',
      'rateLimitPerMinute',
      'scopes.1',
      'scopes.2',
      'status',
    ])
  })

  it('requested twice with one Idempotency-Key is one key with the same secret', async () => {
    const headers = { 'idempotency-key': `once-${the.main.workspaceId}` }
    const body = { name: 'Once', scopes: [] }
    const [first, again] = [
      await keyClient.send('POST', '', body, headers),
      await keyClient.send('POST', '', body, headers),
    ]
    expect([first.status, again.text]).toEqual([201, first.text])
    expect((await keyClient.send('GET', '?q=once')).body.total).toBe(1)
  })
})

it(documentLine('limit: Scopes per key'), async () => {
  const many = (count: number) => Array.from({ length: count }, () => 'calls:read')
  const created = await keyClient.create({ scopes: many(20) })
  expect(created.apiKey.scopes).toEqual(['calls:read'])
  const refused = await keyClient.send('POST', '', { name: 'Key', scopes: many(21) })
  expect([code(refused), refused.body.error.details]).toEqual([
    [400, 'validation_error'],
    { scopes: 'must have at most 20 items' },
  ])
  for (const scope of ['x'.repeat(40), 'x'.repeat(41)])
    expect(code(await keyClient.send('POST', '', { name: 'Key', scopes: [scope] }))).toEqual([400, 'validation_error'])
  expect(code(await keyClient.send('PATCH', `/${created.id}`, { scopes: many(21) }))).toEqual([400, 'validation_error'])
})

describe('the list', () => {
  it('lists revoked keys too, and filters by status and name', async () => {
    const [kept, gone] = [
      await keyClient.create({ name: 'Lister kept' }),
      await keyClient.create({ name: 'Lister gone' }),
    ]
    await keyClient.create({ name: 'Lister turning' }).then(({ id }) => keyClient.send('POST', `/${id}/rotate`))
    expect((await keyClient.send('DELETE', `/${gone.id}`)).body).toEqual({ deleted: gone.id })
    const find = async (rest: string) => names(await keyClient.send('GET', `?q=LISTER&sort=name&dir=asc${rest}`))
    expect(await find('')).toEqual(['Lister gone', 'Lister kept', 'Lister turning'])
    expect(await find('&status=active')).toEqual(['Lister kept'])
    expect(await find('&status=rotating')).toEqual(['Lister turning'])
    expect(await find('&status=revoked')).toEqual(['Lister gone'])
    expect(await find('&pageSize=1&page=2')).toEqual(['Lister kept'])
    expect(code(await keyClient.send('GET', '?status=gone'))).toEqual([400, 'validation_error'])
    expect(await keyClient.read(kept.id)).toMatchObject({ status: 'active' })
  })

  it('lists only keys of the workspace', async () => {
    const other = createKeyClient(server, the.other.session)
    expect(names(await other.send('GET', ''))).toEqual(['Full key'])
  })
})

describe('a change', () => {
  it('applies from the next request on, for every secret of the key', async () => {
    const { id, secret, ask } = await keyClient.create({ scopes: [], rateLimitPerMinute: 500 })
    const rotated = await keyClient.send('POST', `/${id}/rotate`)
    expect(await keyClient.statusAndCode(secret)).toEqual([403, 'insufficient_scope'])
    const changed = await keyClient.send('PATCH', `/${id}`, { scopes: ['campaigns:read'], rateLimitPerMinute: 600 })
    expect(changed.body.apiKey).toMatchObject({ scopes: ['campaigns:read'], rateLimitPerMinute: 600, name: 'Key' })
    expect(await keyClient.statusAndCode(secret)).toEqual([200])
    expect(await keyClient.statusAndCode(rotated.body.key)).toEqual([200])
    expect((await ask('/api/v1/campaigns')).headers.get('ratelimit-policy')).toBe('"default";q=600;w=60')
  })

  it('is refused when empty or when the key changed meanwhile', async () => {
    const { id } = await keyClient.create()
    expect(code(await keyClient.send('PATCH', `/${id}`, {}))).toEqual([400, 'bad_request'])
    const { headers } = await keyClient.send('GET', `/${id}`)
    const etag = headers.get('etag') ?? ''
    expect((await keyClient.send('PATCH', `/${id}`, { name: 'One' }, { 'if-match': etag })).status).toBe(200)
    expect(code(await keyClient.send('PATCH', `/${id}`, { name: 'Two' }, { 'if-match': etag }))).toEqual([
      412,
      'conflict',
    ])
  })
})

it('a missing, a malformed and another workspace’s key give the same 404', async () => {
  const other = await createKeyClient(server, the.other.session).create()
  for (const [method, rest] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['GET', '/requests'],
  ] as const) {
    const body = method === 'PATCH' ? { name: 'Mine' } : undefined
    const answers = await Promise.all(
      [UNKNOWN_ID, 'x', other.id].map((id) => keyClient.send(method, `/${id}${rest}`, body)),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size, `${method} ${rest}`).toBe(1)
    for (const answer of answers) expect(code(answer)).toEqual([404, 'not_found'])
  }
  expect(await keyClient.statusAndCode(other.secret)).toEqual([200])
})

describe(documentLine('limit: Key rotation grace'), () => {
  it('is a day by default; 0 to 10,080 minutes', async () => {
    const { id, secret } = await keyClient.create()
    for (const graceMinutes of [-1, 10_081, 0.5, '60'])
      expect(code(await keyClient.send('POST', `/${id}/rotate`, { graceMinutes }))).toEqual([400, 'validation_error'])
    const before = Date.now()
    const { body } = await keyClient.send('POST', `/${id}/rotate`)
    expect(body.key).toMatch(FORM)
    expect(body.apiKey).toMatchObject({ id, status: 'rotating', prefix: body.key.slice(0, 12) })
    const grace = Date.parse(body.apiKey.revokesAt) - before
    expect([grace >= 1_440 * MINUTE, grace < 1_441 * MINUTE]).toEqual([true, true])
    expect([await keyClient.statusAndCode(secret), await keyClient.statusAndCode(body.key)]).toEqual([[200], [200]])
    const longest = await keyClient.send('POST', `/${id}/rotate`, { graceMinutes: 10_080 })
    expect(Date.parse(longest.body.apiKey.revokesAt) - before).toBeGreaterThanOrEqual(10_080 * MINUTE)
  })

  it('of 0 ends the old secret with the response', async () => {
    const { id, secret } = await keyClient.create()
    const { body } = await keyClient.send('POST', `/${id}/rotate`, { graceMinutes: 0 })
    expect(body.apiKey).toMatchObject({ status: 'active', revokesAt: null })
    expect([await keyClient.statusAndCode(secret), await keyClient.statusAndCode(body.key)]).toEqual([
      [401, 'invalid_key'],
      [200],
    ])
  })

  it('a second rotation within a grace ends the oldest secret at once', async () => {
    const { id, secret } = await keyClient.create()
    const second = await keyClient.send('POST', `/${id}/rotate`)
    const third = await keyClient.send('POST', `/${id}/rotate`)
    const tried = await Promise.all(
      [secret, second.body.key, third.body.key].map((key) => keyClient.statusAndCode(key)),
    )
    expect(tried).toEqual([[401, 'invalid_key'], [200], [200]])
  })
})

it('a revoked key stops working at once and permanently, with every secret', async () => {
  const { id, secret } = await keyClient.create()
  const rotated = await keyClient.send('POST', `/${id}/rotate`)
  expect((await keyClient.send('DELETE', `/${id}`)).body).toEqual({ deleted: id })
  for (const key of [secret, rotated.body.key]) expect(await keyClient.statusAndCode(key)).toEqual([401, 'invalid_key'])
  expect((await keyClient.send('DELETE', `/${id}`)).body).toEqual({ deleted: id })
  for (const [method, rest, body] of [
    ['PATCH', '', { name: 'Again' }],
    ['POST', '/rotate', {}],
  ] as const) {
    const refused = await keyClient.send(method, `/${id}${rest}`, body)
    expect([code(refused), refused.body.error.details]).toEqual([[409, 'conflict'], { status: 'revoked' }])
  }
  expect(await keyClient.read(id)).toMatchObject({ status: 'revoked', revokesAt: expect.any(String) })
})

describe('the ceiling of the plan', () => {
  let growth: KeyClient
  beforeAll(() => {
    growth = createKeyClient(server, the.growth.session)
  })

  it('is exact under concurrent requests', async () => {
    const body = { name: 'Key', scopes: [] }
    const answers = await Promise.all(Array.from({ length: 50 }, () => growth.send('POST', '', body)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19)
    const refused = answers.filter(({ status }) => status !== 201)
    for (const answer of refused) {
      expect(code(answer)).toEqual([402, 'plan_upgrade_required'])
      expect(answer.body.error.details).toEqual({ feature: 'maxApiKeys', limit: 20, current: 20 })
    }
    const { body: page } = await growth.send('GET', '?pageSize=200')
    expect(page.total).toBe(20)
    const [{ id }] = page.data
    expect((await growth.send('POST', `/${id}/rotate`)).status).toBe(200)
    expect(code(await growth.send('POST', '', body))).toEqual([402, 'plan_upgrade_required'])
    await growth.send('DELETE', `/${id}`)
    expect((await growth.send('POST', '', body)).status).toBe(201)
  })

  it('is 0 on a plan without keys', async () => {
    const refused = await createKeyClient(server, the.starter.session).send('POST', '', { name: 'Key', scopes: [] })
    expect([code(refused), refused.body.error.details]).toEqual([
      [402, 'plan_upgrade_required'],
      { feature: 'maxApiKeys', limit: 0, current: 0 },
    ])
  })
})

it('the routes of API keys accept no API key', async () => {
  const ask = createApiClient(() => server.baseUrl, the.main.key)
  for (const path of ['', `/${UNKNOWN_ID}`, `/${UNKNOWN_ID}/requests`])
    expect(code(await ask(`/api/tracking/api-keys${path}`))).toEqual([401, 'unauthorized'])
})
