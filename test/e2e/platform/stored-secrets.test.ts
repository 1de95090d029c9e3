import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const OPERATOR_TOKEN = `operator-${randomUUID()}`

/** The bytes of every file in a directory. */
function everyByte(directory: string): readonly (readonly [string, Buffer])[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))])
}

/** Every encoding in which a file could contain a secret. */
const spellings = (secret: string) => [
  Buffer.from(secret),
  Buffer.from(JSON.stringify(secret).slice(1, -1)),
  Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '')),
  Buffer.from(Buffer.from(secret).toString('hex')),
]

/** Issues or sends every kind of secret; returns them by kind. */
async function issueAll(baseUrl: string, tenant: Awaited<ReturnType<typeof createTenantWorkspace>>) {
  const secrets: Record<string, string> = {
    'operator token': OPERATOR_TOKEN,
    'seeded session': tenant.session,
    'seeded key': tenant.key ?? '',
  }
  const ask = createApiClient(() => baseUrl, tenant.session)
  const done = async (method: string, path: string, body: Json, headers = {}) => {
    const answer = await ask(path, { method, body, headers })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const post = (path: string, body: Json = {}, headers = {}) => done('POST', `/api/tracking/${path}`, body, headers)
  const password = `pw-${randomUUID()}`
  const next = `pw-${randomUUID()}`
  const email = `${randomUUID()}@secrets.example`
  await post('users', { email, name: 'Person', role: 'admin', password })
  const signedIn = await done('POST', '/api/auth/sign-in', { email, password })
  const theirs = createApiClient(() => baseUrl, signedIn.token)
  const changed = await theirs('/api/auth/password', { method: 'POST', body: { current: password, next } })
  expect(changed.status, changed.text).toBeLessThan(300)
  Object.assign(secrets, { password, 'next password': next, session: signedIn.token })

  const idempotent = { 'idempotency-key': `key-${randomUUID()}` }
  const made = await post('api-keys', { name: 'Key', scopes: ['calls:read'] }, idempotent)
  const rotated = await post(`api-keys/${made.apiKey.id}/rotate`, { graceMinutes: 5 })
  Object.assign(secrets, { 'api key': made.key, 'rotated api key': rotated.key })
  expect((await post('api-keys', { name: 'Key', scopes: ['calls:read'] }, idempotent)).key).toBe(made.key)

  const { buyer } = await post('buyers', { name: 'Buyer' })
  const sipPassword = `sip-${randomUUID()}`
  await post('targets', {
    name: 'Sip target',
    type: 'sip',
    buyerId: buyer.id,
    endpoint: { sipUri: 'sip:desk@buyer.example', sipAuthType: 'digest', sipUsername: 'desk', sipPassword },
  })
  const headerValue = `Bearer header-${randomUUID()}`
  const later = `Bearer later-${randomUUID()}`
  const { target } = await post('targets', {
    name: 'Bidder',
    type: 'rtb',
    buyerId: buyer.id,
    rtb: { bidUrl: 'https://bidder.example/bid', bidHeaders: { Authorization: headerValue } },
  })
  const patched = await done('PATCH', `/api/tracking/targets/${target.id}`, {
    rtb: { bidHeaders: { Authorization: later, 'X-Plain': headerValue } },
  })
  expect(patched.target.rtb.bidHeaders).toEqual({ Authorization: later, 'X-Plain': headerValue })
  Object.assign(secrets, { 'sip password': sipPassword, 'header value': headerValue, 'later header value': later })

  const { campaign } = await post('campaigns', { name: 'Campaign', verticalId: 'roofing' })
  const { publisher } = await post('publishers', { name: 'Publisher' })
  const lane = `/api/tracking/campaigns/${campaign.id}/publishers/${publisher.id}`
  const opened = await done('PUT', lane, {})
  const compat = await done('POST', `${lane}/compat`, { enabled: true })
  const key = `/api/publishers/keys/${opened.lane.key.id}`
  const again = await done('POST', `${key}/compat-token/rotate`, {})
  const signing = await done('POST', `${key}/signing-secret/rotate`, {})
  const routing = await done('POST', `${key}/rotate`, { graceMinutes: 5 })
  const { e164: to } = await tenant.number()
  const sipHeaders = { 'X-Svc-Routing-Key': routing.routingKey }
  await done('POST', '/api/sandbox/calls', { to, mode: 'instant', sipHeaders })
  const tokenOf = (url: string) => /\/([^/]+)\.json$/.exec(url)?.[1] ?? ''
  Object.assign(secrets, {
    'routing key': opened.key,
    'rotated routing key': routing.routingKey,
    'compat token': tokenOf(compat.compat.url),
    'rotated compat token': tokenOf(again.compat.url),
    'signing secret': signing.signingSecret,
  })
  return secrets
}

describe('what is stored', () => {
  test('no secret is in plain text in the event log, the read models or the process log', async () => {
    const environment = freshEnvironment(embeddedStores)
    const { baseUrl, createWorld, close } = await openInProcessPlatform({ ...environment, OPERATOR_TOKEN })
    const tenant = await createWorld((writer) => createTenantWorkspace(writer, { name: 'Secretive' }))
    const secrets = await issueAll(baseUrl, tenant)
    const activity = await createApiClient(() => baseUrl, tenant.session)('/api/tracking/activity/export.csv')
    await close()
    for (const [kind, secret] of Object.entries(secrets)) expect(secret.length, kind).toBeGreaterThan(15)
    const stored = [...everyByte(environment.DATA_DIR ?? ''), ['activity.csv', Buffer.from(activity.text)] as const]
    expect(stored.map(([name]) => name)).toEqual(expect.arrayContaining(['events.db', 'views.db', 'platform.log']))
    const found = Object.entries(secrets).flatMap(([kind, secret]) =>
      stored
        .filter(([, bytes]) => spellings(secret).some((spelling) => bytes.includes(spelling)))
        .map(([name]) => `${kind} in ${name}`),
    )
    expect(found).toEqual([])
  })
})
