import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { App } from '../../../src/main/app.ts'
import {
  bidHeaderPlace,
  compatTokenPlace,
  signingSecretPlace,
  sipPasswordPlace,
} from '../../../src/ports/sealed-places.ts'
import type { Place } from '../../../src/ports/secrets.ts'
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

type Tenant = Awaited<ReturnType<typeof createTenantWorkspace>>
type Secrets = Readonly<Record<string, string>>

/** Sends requests as a tenant; each must succeed. */
function createSender(baseUrl: string, tenant: Tenant) {
  const request = createApiClient(() => baseUrl, tenant.session)
  const send = async (method: string, path: string, body: Json, headers = {}) => {
    const answer = await request(path, { method, body, headers })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const post = (path: string, body: Json = {}, headers = {}) => send('POST', `/api/tracking/${path}`, body, headers)
  return { send, post }
}
type Sender = ReturnType<typeof createSender>

/** Passwords and a session. */
async function issueUserSecrets({ send, post }: Sender, baseUrl: string): Promise<Secrets> {
  const password = `pw-${randomUUID()}`
  const next = `pw-${randomUUID()}`
  const email = `${randomUUID()}@secrets.example`
  const invited = await post('users', { email, name: 'Person', role: 'admin' })
  await send('POST', '/api/auth/invitations/accept', { token: invited.token, password })
  const reset = await createApiClient(() => baseUrl, OPERATOR_TOKEN)('/api/operator/users/password-reset', {
    method: 'POST',
    body: { email },
  })
  const signedIn = await send('POST', '/api/auth/sign-in', { email, password })
  const theirs = createApiClient(() => baseUrl, signedIn.token)
  const changed = await theirs('/api/auth/password', { method: 'POST', body: { current: password, next } })
  expect(changed.status, changed.text).toBeLessThan(300)
  return {
    password,
    'next password': next,
    session: signedIn.token,
    invitation: invited.token,
    'password reset': reset.body.token,
  }
}

/** API keys, before and after their rotation. */
async function issueApiKeys({ post }: Sender): Promise<Secrets> {
  const idempotent = { 'idempotency-key': `key-${randomUUID()}` }
  const created = await post('api-keys', { name: 'Key', scopes: ['calls:read'] }, idempotent)
  const rotated = await post(`api-keys/${created.apiKey.id}/rotate`, { graceMinutes: 5 })
  expect((await post('api-keys', { name: 'Key', scopes: ['calls:read'] }, idempotent)).key).toBe(created.key)
  return { 'api key': created.key, 'rotated api key': rotated.key }
}

/** Passwords and headers of targets. */
async function sendTargetSecrets({ send, post }: Sender): Promise<Secrets> {
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
  const patched = await send('PATCH', `/api/tracking/targets/${target.id}`, {
    rtb: { bidHeaders: { Authorization: later, 'X-Plain': headerValue } },
  })
  expect(patched.target.rtb.bidHeaders).toEqual({ Authorization: later, 'X-Plain': headerValue })
  return { 'sip password': sipPassword, 'header value': headerValue, 'later header value': later }
}

/** Keys, tokens and signing secrets of a lane. */
async function issueLaneSecrets({ send, post }: Sender, tenant: Tenant): Promise<Secrets> {
  const { campaign } = await post('campaigns', { name: 'Campaign', verticalId: 'roofing' })
  const { publisher } = await post('publishers', { name: 'Publisher' })
  const lane = `/api/tracking/campaigns/${campaign.id}/publishers/${publisher.id}`
  const opened = await send('PUT', lane, {})
  const compat = await send('POST', `${lane}/compat`, { enabled: true })
  const key = `/api/publishers/keys/${opened.lane.key.id}`
  const again = await send('POST', `${key}/compat-token/rotate`, {})
  const signing = await send('POST', `${key}/signing-secret/rotate`, {})
  const routing = await send('POST', `${key}/rotate`, { graceMinutes: 5 })
  const { e164: to } = await tenant.number()
  const sipHeaders = { 'X-Svc-Routing-Key': routing.routingKey }
  await send('POST', '/api/sandbox/calls', { to, mode: 'instant', sipHeaders })
  const tokenOf = (url: string) => /\/([^/]+)\.json$/.exec(url)?.[1] ?? ''
  return {
    'routing key': opened.key,
    'rotated routing key': routing.routingKey,
    'compat token': tokenOf(compat.compat.url),
    'rotated compat token': tokenOf(again.compat.url),
    'signing secret': signing.signingSecret,
  }
}

/** Issues or sends every kind of secret; returns them by kind. */
async function issueAll(baseUrl: string, tenant: Tenant): Promise<Secrets> {
  const sender = createSender(baseUrl, tenant)
  return {
    'operator token': OPERATOR_TOKEN,
    'seeded session': tenant.session,
    'seeded key': tenant.key ?? '',
    ...(await issueUserSecrets(sender, baseUrl)),
    ...(await issueApiKeys(sender)),
    ...(await sendTargetSecrets(sender)),
    ...(await issueLaneSecrets(sender, tenant)),
  }
}

/** The sealed settings of a workspace, opened for the places that they belong to. */
async function sealedSettings({ writer, secrets }: App, workspaceId: string) {
  const { targets, routingKeys } = await writer.stateOf(workspace, workspaceId)
  const desk = targets.find(({ endpoint }) => endpoint !== null && endpoint.sipSecret !== null)
  const bidder = targets.find(({ rtb }) => rtb !== null)
  const key = routingKeys.find(({ compat }) => compat !== null)
  if (!desk || !bidder || !key) throw new Error('A record is missing.')
  const open = (sealed: string | null | undefined, place: Place) => secrets.unseal(sealed ?? '', place)
  const header = (name: string) => open(bidder.rtb?.bidHeaders[name], bidHeaderPlace(workspaceId, bidder.id, name))
  return {
    'a password': open(desk.endpoint?.sipSecret?.sealed, sipPasswordPlace(workspaceId, desk.id)),
    'a header': header('Authorization'),
    'an added header': header('X-Plain'),
    'a compat token': open(key.compat?.sealed, compatTokenPlace(workspaceId, key.campaignId, key.publisherId)),
    'a signing secret': open(key.signing, signingSecretPlace(workspaceId, key.id)),
  }
}

describe('what is stored', () => {
  test('no secret is in plain text in the event log, the read models or the process log; settings are sealed for their place', async () => {
    const environment = freshEnvironment(embeddedStores)
    const { app, baseUrl, createWorld, close } = await openInProcessPlatform({ ...environment, OPERATOR_TOKEN })
    const tenant = await createWorld((writer) => createTenantWorkspace(writer, { name: 'Secretive' }))
    const secrets = await issueAll(baseUrl, tenant)
    const sealed = await sealedSettings(app, tenant.workspaceId)
    const activity = await createApiClient(() => baseUrl, tenant.session)('/api/tracking/activity/export.csv')
    await close()
    const { 'sip password': sip, 'header value': header, 'later header value': later } = secrets
    expect(sealed).toEqual({
      'a password': sip,
      'a header': later,
      'an added header': header,
      'a compat token': secrets['rotated compat token'],
      'a signing secret': secrets['signing secret'],
    })
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
