import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiClient, type ApiResponse, type Json, queryString } from '../../support/e2e/api-client.ts'
import { rewriteActivityRows } from '../../support/e2e/rewrite-activity.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PASSWORD = 'correct-horse-battery'
const SIP_PASSWORD = 'sip-password-never-logged'
const HEADER = 'Bearer header-never-logged'
const TEMPLATE = '{"never":"logged"}'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const target = await main.target(buyer, { name: 'Desk' })
  const publisher = await main.publisher({ name: 'North' })
  const { campaignId, numberId } = await main.line({ name: 'Roofing' }, [target])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const tampered = await createTenantWorkspace(writer, { name: 'Spoilt' })
  const blocking = await main.apiKey({
    name: 'Blocking key',
    scopes: ['blocklist:write', 'targets:write', 'campaigns:write'],
  })
  return { main, other, tampered, buyer, target, publisher, campaignId, numberId, blocking }
}

/** Every secret in a response. */
function secretsIn(answer: Json): readonly string[] {
  return [answer?.key, answer?.routingKey, answer?.signingSecret, answer?.compat?.url, answer?.token].filter(
    (text) => typeof text === 'string',
  )
}

const { it, main, the, server, client } = suite('the activity log', world)
const byKey = client((the) => the.blocking)
const operator = client(OPERATOR_TOKEN)

const secrets: string[] = [PASSWORD, SIP_PASSWORD, HEADER, TEMPLATE.replaceAll('"', '\\"'), OPERATOR_TOKEN]

const path = '/api/tracking/activity'
const list = async (parameters: Record<string, Json> = {}, client = main) => {
  const answer = await client.console(`${path}${queryString(parameters)}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const verify = async (client = main, parameters: Record<string, Json> = {}) =>
  (await client.console(`${path}/verify${queryString(parameters)}`)).body

/** Sends one write; returns its body and the log entries it caused. */
async function logged(request: ApiClient, method: string, at: string, body?: Json) {
  const before = (await list({ pageSize: 1 })).total
  const answer: ApiResponse = await request(at, { method, body: body ?? {} })
  expect(answer.status, answer.text).toBeLessThan(300)
  secrets.push(...secretsIn(answer.body))
  const { data, total } = await list({ pageSize: 200 })
  return {
    body: answer.body,
    entries: data.slice(0, total - before),
    requestId: answer.headers.get('svc-request-id'),
  }
}

const changeOf = (entry: Json, field: string) => entry.changes.find((change: Json) => change.field === field)
const owner = () => ({ type: 'user', id: expect.any(String), name: 'Main owner' })

/** Kind and action of the entry; method, path and body of the write; what later writes need of the answer. */
type LoggedWrite = readonly [string, string, string, () => string, Json?, ((body: Json) => void)?]

const lanePath = () => `/api/tracking/campaigns/${the.campaignId}/publishers/${the.publisher}`

/** `created` gets the id of the SIP target. */
function demandWrites(created: { sipTargetId: string }): readonly LoggedWrite[] {
  const { buyer } = the
  return [
    ['buyer', 'created', 'POST', () => '/api/tracking/buyers', { name: 'Solar', dailyCap: 5 }],
    ['buyer', 'changed', 'PATCH', () => `/api/tracking/buyers/${buyer}`, { dailyCap: 7 }],
    [
      'buyer',
      'status_changed',
      'POST',
      () => `/api/tracking/buyers/${buyer}/status`,
      { status: 'paused', note: 'Winter' },
    ],
    [
      'target',
      'created',
      'POST',
      () => '/api/tracking/targets',
      {
        name: 'Switch',
        type: 'sip',
        buyerId: buyer,
        endpoint: { sipUri: 'sip:a@pbx.example', sipAuthType: 'digest', sipUsername: 'a', sipPassword: SIP_PASSWORD },
      },
      ({ target }) => {
        created.sipTargetId = target.id
      },
    ],
    [
      'target',
      'changed',
      'PATCH',
      () => `/api/tracking/targets/${created.sipTargetId}`,
      { endpoint: { sipPassword: `${SIP_PASSWORD}-2` } },
    ],
    [
      'target',
      'created',
      'POST',
      () => '/api/tracking/targets',
      {
        name: 'Bidder',
        type: 'rtb',
        buyerId: buyer,
        rtb: { bidUrl: 'https://bids.example/ask', bidHeaders: { authorization: HEADER }, bidBodyTemplate: TEMPLATE },
      },
    ],
  ]
}

function campaignWrites(): readonly LoggedWrite[] {
  const { target, campaignId } = the
  return [
    ['campaign', 'created', 'POST', () => '/api/tracking/campaigns', { name: 'Solar leads', verticalId: 'solar' }],
    ['campaign', 'changed', 'PATCH', () => `/api/tracking/campaigns/${campaignId}`, { dailyCap: 40 }],
    ['route', 'changed', 'PUT', () => `/api/tracking/campaigns/${campaignId}/routes/${target}`, { priority: 7 }],
    ['vertical', 'created', 'POST', () => '/api/tracking/verticals', { name: 'Gutters', short: 'Gutters' }],
    ['publisher', 'created', 'POST', () => '/api/tracking/publishers', { name: 'South' }],
  ]
}

function laneWrites(): readonly LoggedWrite[] {
  let keyId = ''
  return [
    [
      'lane',
      'opened',
      'PUT',
      lanePath,
      { payoutMode: 'fixed', payoutCents: 300 },
      ({ lane }) => {
        keyId = lane.key.id
      },
    ],
    ['lane', 'changed', 'PUT', lanePath, { payoutCents: 400 }],
    ['lane', 'compat_enabled', 'POST', () => `${lanePath()}/compat`, { enabled: true }],
    ['publisher_key', 'changed', 'PATCH', () => `/api/publishers/keys/${keyId}`, { requireSignature: true }],
    ['publisher_key', 'rotated', 'POST', () => `/api/publishers/keys/${keyId}/rotate`],
    ['publisher_key', 'compat_token_rotated', 'POST', () => `/api/publishers/keys/${keyId}/compat-token/rotate`],
    ['publisher_key', 'signing_secret_rotated', 'POST', () => `/api/publishers/keys/${keyId}/signing-secret/rotate`],
  ]
}

function workspaceWrites(): readonly LoggedWrite[] {
  const { campaignId, numberId } = the
  let apiKeyId = ''
  let invitationId = ''
  return [
    ['pool', 'created', 'POST', () => '/api/tracking/pools', { name: 'Site', campaignId }],
    ['number', 'labelled', 'PATCH', () => `/api/tracking/numbers/${numberId}`, { label: 'Front' }],
    ['blocked_caller', 'blocked', 'POST', () => '/api/tracking/blocked-callers', { callerNumber: '+12125550100' }],
    [
      'api_key',
      'created',
      'POST',
      () => '/api/tracking/api-keys',
      { name: 'New key', scopes: ['calls:read'] },
      ({ apiKey }) => {
        apiKeyId = apiKey.id
      },
    ],
    ['api_key', 'rotated', 'POST', () => `/api/tracking/api-keys/${apiKeyId}/rotate`, { graceMinutes: 5 }],
    ['api_key', 'revoked', 'DELETE', () => `/api/tracking/api-keys/${apiKeyId}`],
    [
      'invitation',
      'created',
      'POST',
      () => '/api/tracking/users',
      { email: `bob-${the.main.workspaceId}@x.example`, name: 'Bob', role: 'member' },
      ({ invitation }) => {
        invitationId = invitation.id
      },
    ],
    ['invitation', 'revoked', 'DELETE', () => `/api/tracking/users/invitations/${invitationId}`],
    ['workspace', 'changed', 'PATCH', () => '/api/tracking/workspace', { timezone: 'America/Chicago' }],
    ['lane', 'closed', 'DELETE', lanePath],
  ]
}

it('every write of a user is logged under their name, with before and after, and no secret', async () => {
  const created = { sipTargetId: '' }
  for (const [kind, action, method, at, body, learn] of [
    ...demandWrites(created),
    ...campaignWrites(),
    ...laneWrites(),
    ...workspaceWrites(),
  ]) {
    const write = await logged(main.console, method, at(), body)
    learn?.(write.body)
    const entry = write.entries.find((one: Json) => one.kind === kind && one.action === action)
    expect(entry, `${kind} ${action}: ${JSON.stringify(write.entries)}`).toMatchObject({
      actor: owner(),
      ip: '127.0.0.1',
      requestId: write.requestId,
      entity: { kind },
      severity: expect.stringMatching(/^(low|medium|high)$/),
    })
  }
  expect((await list({ entityId: the.buyer, kind: 'buyer' })).data.slice(0, 2)).toMatchObject([
    { action: 'status_changed', summary: 'Buyer Acme went from active to paused: Winter' },
    { action: 'changed', changes: [{ field: 'dailyCap', before: 0, after: 7 }] },
  ])
  const [secret] = (await list({ entityId: created.sipTargetId })).data
  expect(changeOf(secret, 'endpoint.sipSecret')).toEqual({ field: 'endpoint.sipSecret', before: '•••', after: '•••' })
})

it('an accepted invitation is logged under the name of the person who is invited, with the seat', async () => {
  const person = { email: `ann-${the.main.workspaceId}@x.example`, name: 'Ann', role: 'admin' }
  const { token } = (await logged(main.console, 'POST', '/api/tracking/users', person)).body
  const accepted = await logged(client(null), 'POST', '/api/auth/invitations/accept', { token, password: PASSWORD })
  const actor = { type: 'user', id: accepted.body.user.id, name: 'Ann' }
  for (const [kind, action] of [
    ['invitation', 'accepted'],
    ['user', 'seat_granted'],
  ])
    expect(accepted.entries.find((one: Json) => one.kind === kind)).toMatchObject({ action, actor, ip: '127.0.0.1' })
})

it('every write of a key is logged under the key’s name', async () => {
  const { target, campaignId } = the
  const blocked = await logged(byKey, 'POST', '/api/v1/blocked-callers', {
    callerNumber: '+13105550123',
    reason: 'Prank',
  })
  expect(blocked.entries).toMatchObject([
    { kind: 'blocked_caller', actor: { type: 'key', name: 'Blocking key' }, requestId: blocked.requestId },
  ])
  expect((await logged(byKey, 'POST', '/api/v1/blocked-callers', { callerNumber: '+13105550123' })).entries).toEqual([])
  const changed = await logged(byKey, 'PATCH', `/api/v1/targets/${target}`, { dailyCap: 12 })
  expect(changed.entries).toMatchObject([
    {
      kind: 'target',
      entity: { id: target, name: 'Desk' },
      actor: { name: 'Blocking key' },
      changes: [{ field: 'dailyCap', before: 0, after: 12 }],
    },
  ])
  const paused = await logged(byKey, 'POST', `/api/v1/campaigns/${campaignId}/status`, {
    status: 'paused',
    note: 'Late',
  })
  expect(paused.entries).toMatchObject([{ kind: 'campaign', action: 'status_changed', actor: { type: 'key' } }])
  const gone = await logged(byKey, 'DELETE', `/api/v1/blocked-callers/${blocked.body.blockedCaller.id}`)
  expect(gone.entries).toMatchObject([{ kind: 'blocked_caller', action: 'unblocked', actor: { type: 'key' } }])
})

it('writes of the operator are logged in the workspace under that name', async () => {
  const { main: tenant, campaignId } = the
  const credited = await logged(operator, 'POST', `/api/operator/workspaces/${tenant.workspaceId}/credits`, {
    amountCents: 1_250,
    reference: 'wire-7',
  })
  expect(credited.entries).toMatchObject([
    {
      kind: 'wallet',
      action: 'credited',
      entity: { id: 'wire-7' },
      actor: { type: 'operator', id: null, name: 'Operator' },
    },
  ])
  expect(changeOf(credited.entries[0], 'balanceCents')).toMatchObject({
    after: changeOf(credited.entries[0], 'balanceCents').before + 1_250,
  })
  const restricted = await logged(operator, 'POST', `/api/operator/campaigns/${campaignId}/restrict`, {
    note: 'Complaints',
  })
  expect(restricted.entries).toMatchObject([{ kind: 'campaign', severity: 'high', actor: { type: 'operator' } }])
  const renamed = await logged(operator, 'PATCH', `/api/operator/workspaces/${tenant.workspaceId}`, {
    name: 'Main Media',
  })
  expect(renamed.entries).toMatchObject([
    { kind: 'workspace', changes: [{ field: 'name', before: 'Main', after: 'Main Media' }] },
  ])
})

it('the log is read newest first, in pages, by actor, kind, severity, record, text and window', async () => {
  const all = await list({ pageSize: 200 })
  expect(all.data.map(({ position }: Json) => position)).toEqual(
    all.data.map(({ position }: Json) => position).toSorted((a: number, b: number) => b - a),
  )
  const second = await list({ page: 2, pageSize: 3 })
  expect(second).toMatchObject({ page: 2, pageSize: 3, total: all.total, totalPages: Math.ceil(all.total / 3) })
  expect(second.data).toEqual(all.data.slice(3, 6))
  const matching = (holds: (entry: Json) => boolean) => all.data.filter(holds)
  const user = matching(({ actor }) => actor.type === 'user')[0].actor
  const { at } = all.data[4]
  const filters: readonly (readonly [Json, (entry: Json) => boolean])[] = [
    [{ kind: 'target' }, ({ kind }) => kind === 'target'],
    [{ severity: 'high' }, ({ severity }) => severity === 'high'],
    [{ actorId: user.id }, ({ actor }) => actor.id === user.id],
    [{ entityId: the.buyer }, ({ entity }) => entity.id === the.buyer],
    [{ q: 'blocking KEY' }, ({ actor, entity }) => actor.name === 'Blocking key' || entity.name === 'Blocking key'],
    [{ q: 'WINTER' }, ({ summary }) => summary.includes('Winter')],
    [{ from: at }, (entry) => entry.at >= at],
    [{ to: at }, (entry) => entry.at < at],
    [{ q: '.*' }, () => false],
  ]
  for (const [parameters, holds] of filters) {
    expect((await list({ ...parameters, pageSize: 200 })).data, JSON.stringify(parameters)).toEqual(matching(holds))
  }
  for (const [field, parameters] of [
    ['kind', { kind: 'calls' }],
    ['severity', { severity: 'fatal' }],
    ['from', { from: 'yesterday' }],
    ['from', { from: '2026-02-01', to: '2026-01-01' }],
    ['q', { q: 'x'.repeat(121) }],
  ] as const) {
    for (const where of [path, `${path}/export.csv`]) {
      const answer = await main.console(`${where}${queryString(parameters)}`)
      expect(answer.status).toBe(400)
      expect(answer.body.error).toMatchObject({ code: 'validation_error', details: { [field]: expect.any(String) } })
    }
  }
})

it('the log is each workspace’s own, and needs a session', async () => {
  const other = createTenantClient(server, the.other)
  const { data } = await list({ pageSize: 200 }, other)
  expect(data.length).toBeGreaterThan(0)
  expect(JSON.stringify(data)).not.toContain('Acme')
  for (const where of ['', '/verify', '/export.csv']) {
    expect((await main.rest(`${path}${where}`)).body.error.code).toBe('unauthorized')
    expect((await other.console(`${path}${where}?agencyId=${the.main.workspaceId}`)).status).toBe(404)
  }
})

it('the chain verifies, whole and in windows', async () => {
  const { data, total } = await list({ pageSize: 200 })
  expect(await verify()).toEqual({ ok: true, entries: total, head: data[0].hash, brokenAt: null })
  const { at } = data[3]
  const since = data.filter((entry: Json) => entry.at >= at).length
  expect(await verify(main, { from: at })).toMatchObject({ ok: true, entries: since, head: data[0].hash })
  expect(await verify(main, { to: at })).toMatchObject({ ok: true, entries: total - since })
  expect((await main.console(`${path}/verify?from=2026-02-01&to=2026-01-01`)).status).toBe(400)
})

it('the chain does not verify after a stored row was changed, and names the place', async () => {
  const tampered = createTenantClient(server, the.tampered)
  expect(await verify(tampered)).toMatchObject({ ok: true })
  let changed = ''
  await rewriteActivityRows(server.env, the.tampered.workspaceId, ([, second]) => {
    changed = second?.id ?? ''
    return second ? [{ id: second.id, doc: { ...second.doc, summary: 'Nothing happened.' } }] : []
  })
  expect(await verify(tampered)).toMatchObject({ ok: false, entries: 1, brokenAt: { id: changed } })
  await rewriteActivityRows(server.env, the.tampered.workspaceId, ([, second]) =>
    second ? [{ id: second.id, doc: null }] : [],
  )
  expect(await verify(tampered)).toMatchObject({ ok: false, entries: 1 })
  expect(await verify()).toMatchObject({ ok: true })
})

it('no entry or file contains a secret that was sent or issued', async () => {
  const { total } = await list({ pageSize: 1 })
  const pages = await Promise.all(
    Array.from({ length: Math.ceil(total / 200) }, (_, page) => main.console(`${path}?page=${page + 1}&pageSize=200`)),
  )
  const everything = [...pages.map(({ text }) => text), (await main.console(`${path}/export.csv`)).text].join('\n')
  const tokens = secrets.map((secret) => /\/compat\/([^./]+)/.exec(secret)?.[1] ?? secret)
  expect(tokens.length).toBeGreaterThan(10)
  for (const token of tokens) expect(everything).not.toContain(token)
  expect(everything).not.toContain('$argon2')
})
