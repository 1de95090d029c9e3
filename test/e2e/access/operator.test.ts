import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  createApiClient,
  errorWithoutRequestId,
  type Json,
  queryString,
  statusAndCode,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { embeddedStores, freshEnvironment, startServer, waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** The stores may hold data of earlier runs: names and addresses are unique per run. */
const RUN = randomUUID()
const WORKSPACES = '/api/operator/workspaces'
const PASSPHRASE = 'correct horse battery'

const world = async (writer: StreamWriter) => ({
  main: await createTenantWorkspace(writer, { name: 'Main', fundCents: 0 }),
})

const { it, beforeEach, the, client } = suite('the operator', world)

let created = 0
let sent: Json

beforeEach(() => {
  created += 1
  const owner = { email: `owner-${created}@${RUN}.example`, name: `Owner ${created}`, password: PASSPHRASE }
  sent = { name: `${RUN} ${created}.`, timezone: 'Europe/Berlin', planId: 'growth', owner }
})

const read = (path: string) => client(OPERATOR_TOKEN)(path)
const write = (method: string, path: string, body: Json, headers = {}) =>
  client(OPERATOR_TOKEN)(path, { method, body, headers })
const create = async (body: Json = sent) => {
  const answer = await write('POST', WORKSPACES, body)
  expect(answer.status).toBe(201)
  return answer.body
}

it('a workspace is created with its owner, who can sign in', async () => {
  const { workspace, owner } = await create()
  const { name, timezone, planId } = sent
  expect(workspace).toMatchObject({ name, timezone, planId, subscriptionStatus: 'active', sandbox: false })
  expect(owner).toMatchObject({ email: sent.owner.email, name: sent.owner.name, role: 'owner' })
  const { email, password } = sent.owner
  const { body } = await client(null)('/api/auth/sign-in', { method: 'POST', body: { email, password } })
  expect(body.seats).toEqual([{ agencyId: workspace.id, agencyName: name, role: 'owner' }])
  expect((await client(body.token)('/api/tracking/users')).body.total).toBe(1)
  expect((await client(body.token)('/api/tracking/buyers')).body.total).toBe(0)
})

it('an address with an account is refused, unless its person is to be invited', async () => {
  const first = await create()
  const { email, password } = sent.owner
  const second = { ...sent, name: `${sent.name} second` }
  const refused = await write('POST', WORKSPACES, { ...second, owner: { ...sent.owner, password: 'something else' } })
  expect(statusAndCode(refused)).toEqual([409, 'conflict'])
  expect((await read(`${WORKSPACES}${queryString({ q: second.name })}`)).body.total).toBe(0)
  const invited = await write('POST', WORKSPACES, { ...second, owner: { email, existing: true } })
  expect(invited.status, invited.text).toBe(201)
  expect(invited.body).toEqual({
    workspace: expect.objectContaining({ name: second.name }),
    owner: null,
    invitation: expect.objectContaining({ email, role: 'owner' }),
    token: expect.stringMatching(/^inv_/),
  })
  const enter = async () =>
    (await client(null)('/api/auth/sign-in', { method: 'POST', body: { email, password } })).body
  expect((await enter()).seats).toHaveLength(1)
  const accepted = await client(null)('/api/auth/invitations/accept', {
    method: 'POST',
    body: { token: invited.body.token, password },
  })
  expect(accepted.body.seats.map(({ agencyId, role }: Json) => [agencyId, role])).toEqual([
    [first.workspace.id, 'owner'],
    [invited.body.workspace.id, 'owner'],
  ])
})

it('an address without an account cannot be invited as an existing owner', async () => {
  const owner = { email: `nobody-${sent.owner.email}`, existing: true }
  const refused = await write('POST', WORKSPACES, { ...sent, owner })
  expect(statusAndCode(refused)).toEqual([409, 'conflict'])
})

it('a repeat with the same Idempotency-Key creates no second workspace', async () => {
  const key = { 'idempotency-key': `make-${created}` }
  const answers = await Promise.all([1, 2, 3].map(() => write('POST', WORKSPACES, sent, key)))
  expect(new Set(answers.map(({ body }) => body.workspace.id)).size).toBe(1)
  expect((await read(`${WORKSPACES}${queryString({ q: sent.name })}`)).body.data).toHaveLength(1)
})

it.each([
  [{ timezone: 'Mars/Olympus' }, 'validation_error', ['timezone']],
  [{ name: '' }, 'validation_error', ['name']],
  [{ planId: 'huge' }, 'validation_error', ['planId']],
  [{ sandbox: 'yes' }, 'validation_error', ['sandbox']],
  [{ owner: { email: 'x', name: '', password: 'short' } }, 'validation_error', ['email', 'name', 'password']],
  [{ owner: undefined }, 'validation_error', ['owner']],
  [{ subscriptionStatus: 'active' }, 'validation_error', ['subscriptionStatus']],
])('%j creates no workspace', async (change, code, fields) => {
  const answer = await write('POST', WORKSPACES, { ...sent, ...change })
  expect(statusAndCode(answer)).toEqual([400, code])
  const named = Object.keys(answer.body.error.details).map((field) => field.replace('owner.', ''))
  expect(named.toSorted()).toEqual(fields)
  expect((await read(`${WORKSPACES}${queryString({ q: `${RUN} ${created}.` })}`)).body.total).toBe(0)
})

it('workspaces are listed with their counts', async () => {
  const { workspace } = await create()
  await write('POST', `${WORKSPACES}/${workspace.id}/credits`, { amountCents: 700, reference: 'opening' })
  const { body } = await read(
    `${WORKSPACES}${queryString({ q: sent.name.toUpperCase(), planId: 'growth', sandbox: false })}`,
  )
  expect(body).toMatchObject({ page: 1, pageSize: 25, total: 1, totalPages: 1 })
  expect(body.data).toEqual([{ ...workspace, balanceCents: 700 }])
  expect((await read(`${WORKSPACES}/${workspace.id}`)).body).toEqual({ workspace: body.data[0] })
  for (const id of [UNKNOWN_ID, 'x'])
    expect(statusAndCode(await read(`${WORKSPACES}/${id}`))).toEqual([404, 'not_found'])
  expect((await read(`${WORKSPACES}${queryString({ q: sent.name, planId: 'scale' })}`)).body.total).toBe(0)
  expect((await read(`${WORKSPACES}?subscriptionStatus=canceled&q=${RUN}`)).body.data).toEqual([])
  const all = (await read(`${WORKSPACES}?sort=name&dir=asc&pageSize=200&q=${RUN}`)).body.data.map(
    ({ name }: Json) => name,
  )
  expect(all).toEqual(all.toSorted())
  expect(statusAndCode(await read(`${WORKSPACES}?planId=huge`))).toEqual([400, 'validation_error'])
})

it('plan, subscription, zone and name change together, and apply from the next request on', async () => {
  const { main } = the
  const path = `${WORKSPACES}/${main.workspaceId}`
  const changes = { planId: 'starter', subscriptionStatus: 'past_due', timezone: 'Asia/Tokyo', name: 'Renamed' }
  const { status, body } = await write('PATCH', path, changes)
  expect([status, body.workspace]).toMatchObject([200, { id: main.workspaceId, ...changes }])
  const refused = await client(main.session)('/api/tracking/buyers', { method: 'POST', body: {} })
  expect(statusAndCode(refused)).toEqual([402, 'subscription_inactive'])
  expect(refused.body.error.details).toMatchObject({ status: 'past_due', planId: 'starter' })
  await write('PATCH', path, { subscriptionStatus: 'active' })
  const rest = await client(main.key)('/api/v1/buyers')
  expect([...statusAndCode(rest), rest.body.error.details]).toEqual([
    402,
    'plan_upgrade_required',
    { feature: 'apiAccess' },
  ])
  await write('PATCH', path, { planId: 'scale' })
  expect((await client(main.key)('/api/v1/buyers')).status).toBe(200)

  for (const [change, code] of [
    [{}, 'bad_request'],
    [{ planId: 'growth', timezone: '+01:00' }, 'validation_error'],
    [{ planId: 'huge' }, 'validation_error'],
    [{ subscriptionStatus: 'trialing' }, 'validation_error'],
    [{ sandbox: true }, 'validation_error'],
  ] as const)
    expect(statusAndCode(await write('PATCH', path, change))).toEqual([400, code])
  const after = (await client(main.session)('/api/tracking/workspace')).body.workspace
  expect(after).toMatchObject({ planId: 'scale', timezone: 'Asia/Tokyo', name: 'Renamed' })
})

it('a credit is added once per reference', async () => {
  const { workspace } = await create()
  const path = `${WORKSPACES}/${workspace.id}/credits`
  const credit = (body: Json) => write('POST', path, body)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => credit({ amountCents: 500, reference: 'wire 17', note: 'Thanks' })),
  )
  for (const { status, body } of answers) {
    expect([status, body.balanceCents]).toEqual([200, 500])
    expect(body.entry).toMatchObject({ kind: 'credit', amountCents: 500, reference: 'wire 17', note: 'Thanks' })
  }
  expect(new Set(answers.map(({ body }) => body.entry.id)).size).toBe(1)
  expect(statusAndCode(await credit({ amountCents: 501, reference: 'wire 17' }))).toEqual([409, 'conflict'])
  expect((await credit({ amountCents: 10_000_000, reference: 'wire 18' })).body.balanceCents).toBe(10_000_500)
  for (const amountCents of [0, -1, 1.5, '5', 10_000_001, Number.MAX_SAFE_INTEGER])
    expect(statusAndCode(await credit({ amountCents, reference: 'x' }))).toEqual([400, 'validation_error'])
  expect(statusAndCode(await credit({ amountCents: 5 }))).toEqual([400, 'validation_error'])
})

it('a missing and a malformed workspace give the same 404', async () => {
  for (const [method, rest, body] of [
    ['PATCH', '', { planId: 'scale' }],
    ['POST', '/credits', { amountCents: 1, reference: 'r' }],
  ] as const) {
    const answers = await Promise.all(
      [UNKNOWN_ID, 'x', 'all'].map((id) => write(method, `${WORKSPACES}/${id}${rest}`, body)),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(statusAndCode(answers[0] ?? expect.fail())).toEqual([404, 'not_found'])
  }
})

it('a platform key is valid, and opens no workspace', async () => {
  const { status, body } = await write('POST', '/api/operator/keys', { name: 'Staff', scopes: ['calls:read'] })
  expect([status, body.key]).toEqual([201, expect.stringMatching(/^svc_live_[\w-]{43}$/)])
  expect(body.apiKey).toMatchObject({ name: 'Staff', scopes: ['calls:read'], status: 'active' })
  expect(JSON.stringify(body.apiKey)).not.toContain(body.key)
  for (const path of ['/api/v1/calls', '/api/v1/buyers', '/api/v1/buyers/x', '/api/tracking/buyers'])
    expect(statusAndCode(await client(body.key)(path))).toEqual([403, 'workspace_required'])
  expect(statusAndCode(await client(body.key)('/api/tracking/campaigns'))).toEqual([401, 'unauthorized'])
  for (const wrong of [{ name: 'Staff' }, { name: '', scopes: [] }, { name: 'S', scopes: ['calls:delete'] }])
    expect(statusAndCode(await write('POST', '/api/operator/keys', wrong))).toEqual([400, 'validation_error'])
})

it('a projection is rebuilt while it is read, once at a time', async () => {
  // A process that is under pressure answers 503, as to anybody.
  const rowOf = async (name: string): Promise<Json | null> => {
    const { status, body } = await read('/api/operator/projections')
    expect([200, 503], JSON.stringify(body)).toContain(status)
    return status === 503 ? null : body.projections.find((row: Json) => row.name === name)
  }
  const before = await waitUntil('The projections are read', () => rowOf('workspaces'))
  expect(before).toMatchObject({ version: expect.any(Number), state: 'running', problem: null, rebuild: null })
  expect(before.position).toBeGreaterThanOrEqual(0)
  expect(before.lagMs).toBeGreaterThanOrEqual(0)

  // A small projection may be rebuilt before the second request: repeat until they overlap.
  const turnedAway = await waitUntil('A second rebuild is refused', async () => {
    const ask = () => write('POST', '/api/operator/projections/workspaces/rebuild', {})
    const requests = await Promise.all([ask(), ask(), ask()])
    for (const { status, body } of requests) {
      expect([202, 409]).toContain(status)
      if (status === 202) expect(body.rebuild).toMatchObject({ name: 'workspaces', share: expect.any(Number) })
    }
    return requests.find(({ status }) => status === 409)
  })
  expect(turnedAway.body.error).toMatchObject({ code: 'conflict', details: { share: expect.any(Number) } })

  expect((await client(the.main.session)('/api/tracking/workspace')).status).toBe(200)
  const rebuilt = await waitUntil('The projection is built', async () => {
    const row = await rowOf('workspaces')
    return row?.rebuild === null && row
  })
  expect(rebuilt.state).toBe('running')
  expect((await client(the.main.session)('/api/tracking/workspace')).body.workspace.id).toBe(the.main.workspaceId)
  for (const name of ['nothing', '__proto__', 'workspaces_v2'])
    expect(statusAndCode(await write('POST', `/api/operator/projections/${name}/rebuild`, {}))).toEqual([
      404,
      'not_found',
    ])
})

test('without OPERATOR_TOKEN there is no operator surface', async () => {
  const server = await startServer(freshEnvironment(embeddedStores))
  try {
    for (const token of [null, '', 'undefined', 'null']) {
      const ask = createApiClient(() => server.baseUrl, token)
      expect(statusAndCode(await ask(WORKSPACES))).toEqual([404, 'not_found'])
      expect(statusAndCode(await ask('/api/operator/projections'))).toEqual([404, 'not_found'])
      expect(statusAndCode(await ask(WORKSPACES, { method: 'POST', body: {} }))).toEqual([404, 'not_found'])
    }
  } finally {
    await server.dispose()
  }
})
