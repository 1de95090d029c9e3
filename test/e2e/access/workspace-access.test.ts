import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, createApiClient, errorWithoutRequestId, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { cancelSubscription, createTenantWorkspace, grantRole } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Open' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  const keys = {
    calls: await main.apiKey({ scopes: ['calls:read'] }),
    none: await main.apiKey({ scopes: [] }),
    elsewhere: await main.apiKey({ ipAllowlist: ['203.0.113.0/24', '2001:db8::1'] }),
    here: await main.apiKey({ ipAllowlist: ['203.0.113.7', '127.0.0.0/8'] }),
    elsewhereWithout: await main.apiKey({ scopes: [], ipAllowlist: ['203.0.113.7'] }),
  }
  const second = await createTenantWorkspace(writer, { name: 'Second' })
  const third = await createTenantWorkspace(writer, { name: 'Third' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const starter = await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' })
  const member = await createTenantWorkspace(writer, { name: 'Member only' })
  const admin = await createTenantWorkspace(writer, { name: 'Admin' })
  await cancelSubscription(lapsed)
  await grantRole(writer, second.email, third, 'admin')
  await grantRole(writer, member.email, member, 'member')
  await grantRole(writer, admin.email, admin, 'admin')
  await grantRole(writer, admin.email, main, 'member')
  return { main, line, keys, second, third, lapsed, starter, member, admin }
}

const { it, the, server } = suite('credentials', world, { stores: 'embedded' })

const ask = (token: string | null, path: string) => createApiClient(() => server.baseUrl, token)(path)
const codeOf = ({ status, body }: ApiResponse) => [status, body?.error?.code]

it('a REST request without a key is a missing_key, with an invalid one an invalid_key', async () => {
  expect(codeOf(await ask(null, '/api/v1/calls'))).toEqual([401, 'missing_key'])
  for (const key of ['x', 'svc_live_', `svc_live_${'a'.repeat(43)}`, the.main.session])
    expect(codeOf(await ask(key, '/api/v1/calls'))).toEqual([401, 'invalid_key'])
  const basic = await createApiClient(() => server.baseUrl, null)('/api/v1/calls', {
    headers: { authorization: `Basic ${the.main.key}` },
  })
  expect(codeOf(basic)).toEqual([401, 'missing_key'])
})

it('the scheme of the credential is read in any case', async () => {
  const { status } = await createApiClient(() => server.baseUrl, null)('/api/v1/calls', {
    headers: { authorization: `bearer ${the.main.key}` },
  })
  expect(status).toBe(200)
})

it('the console’s buyer reads accept keys, and no other console route does', async () => {
  const buyers = await ask(the.main.key, '/api/tracking/buyers')
  expect([buyers.status, buyers.body.total]).toEqual([200, 1])
  const [{ id }] = buyers.body.data
  expect((await ask(the.main.key, `/api/tracking/buyers/${id}`)).body.buyer.name).toBe('Acme')
  expect(codeOf(await ask(the.keys.calls, '/api/tracking/buyers'))).toEqual([403, 'insufficient_scope'])
  expect(codeOf(await ask(the.main.key, '/api/tracking/targets'))).toEqual([401, 'unauthorized'])
})

it('a refusal for a missing scope names the scope needed and the scopes held', async () => {
  expect((await ask(the.keys.calls, '/api/v1/calls')).status).toBe(200)
  for (const [path, scope] of Object.entries({
    numbers: 'numbers:read',
    campaigns: 'campaigns:read',
    buyers: 'buyers:read',
    targets: 'targets:read',
    publishers: 'publishers:read',
  })) {
    const answer = await ask(the.keys.calls, `/api/v1/${path}`)
    expect(codeOf(answer)).toEqual([403, 'insufficient_scope'])
    expect(answer.body.error.details).toEqual({ required: [scope], held: ['calls:read'] })
  }
  for (const path of ['calls', 'calls/live', `calls/${UNKNOWN_ID}`, 'calls/x'])
    expect(codeOf(await ask(the.keys.none, `/api/v1/${path}`))).toEqual([403, 'insufficient_scope'])
})

it('a key with an allowlist works from its addresses only; the scope is checked first', async () => {
  expect((await ask(the.keys.here, '/api/v1/calls')).status).toBe(200)
  expect(codeOf(await ask(the.keys.elsewhere, '/api/v1/calls'))).toEqual([403, 'ip_not_allowed'])
  expect(codeOf(await ask(the.keys.elsewhereWithout, '/api/v1/calls'))).toEqual([403, 'insufficient_scope'])
  const forged = await createApiClient(() => server.baseUrl, the.keys.elsewhere)('/api/v1/calls', {
    headers: { 'x-forwarded-for': '203.0.113.9' },
  })
  expect(codeOf(forged)).toEqual([403, 'ip_not_allowed'])
})

it('a lapsed subscription refuses REST reads, before any scope, and leaves console reads open', async () => {
  const rest = await ask(the.lapsed.key, '/api/v1/calls')
  expect(codeOf(rest)).toEqual([402, 'subscription_inactive'])
  expect(rest.body.error.details).toEqual({ status: 'canceled', planId: 'scale', agencyId: the.lapsed.workspaceId })
  for (const path of ['calls', 'calls/live', 'numbers', 'campaigns', 'buyers', 'targets', 'publishers'])
    expect((await ask(the.lapsed.session, `/api/tracking/${path}`)).status).toBe(200)
})

it('a plan without API access has its console', async () => {
  expect((await ask(the.starter.session, '/api/tracking/calls')).status).toBe(200)
})

it('a session opens no REST route, and a key no console route', async () => {
  expect(codeOf(await ask(the.main.session, '/api/v1/calls'))).toEqual([401, 'invalid_key'])
  for (const path of ['calls', 'calls/live', 'numbers', 'campaigns', 'targets', 'publishers'])
    expect(codeOf(await ask(the.main.key, `/api/tracking/${path}`))).toEqual([401, 'unauthorized'])
  expect(codeOf(await ask(null, '/api/tracking/calls'))).toEqual([401, 'unauthorized'])
})

it('sandbox calls need a session of the workspace', async () => {
  const play = (token: string | null, agencyId = '') =>
    createApiClient(() => server.baseUrl, token)(`/api/sandbox/calls${agencyId}`, {
      method: 'POST',
      body: { to: the.line.e164, mode: 'instant' },
    })
  expect(codeOf(await play(null))).toEqual([401, 'unauthorized'])
  expect(codeOf(await play(the.main.key))).toEqual([401, 'unauthorized'])
  expect((await play(the.main.session)).status).toBe(201)
  expect(codeOf(await play(the.second.session, `?agencyId=${the.third.workspaceId}`))).toEqual([404, 'not_found'])
  expect(codeOf(await play(the.second.session, `?agencyId=${the.main.workspaceId}`))).toEqual([404, 'not_found'])
})

it('a user of several workspaces names one; a user of one need not', async () => {
  const unnamed = await ask(the.second.session, '/api/tracking/calls')
  expect(codeOf(unnamed)).toEqual([400, 'bad_request'])
  expect(Object.keys(unnamed.body.error.details)).toEqual(['agencyId'])
  for (const { workspaceId } of [the.second, the.third])
    expect((await ask(the.second.session, `/api/tracking/calls?agencyId=${workspaceId}`)).status).toBe(200)
  expect(
    (await ask(the.second.session, `/api/tracking/calls?agencyId=${the.third.workspaceId.toUpperCase()}`)).status,
  ).toBe(200)
  expect((await ask(the.main.session, '/api/tracking/calls')).status).toBe(200)
})

it('another user’s workspace, a missing one and a malformed id give the same 404', async () => {
  const named = [the.main.workspaceId, UNKNOWN_ID, 'nonsense', '']
  const answers = await Promise.all(named.map((id) => ask(the.second.session, `/api/tracking/calls?agencyId=${id}`)))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found', message: 'Workspace not found.' } },
  })
})

it('a member may not enter; an admin may', async () => {
  expect(codeOf(await ask(the.member.session, '/api/tracking/calls'))).toEqual([403, 'forbidden'])
  expect(codeOf(await ask(the.member.session, `/api/tracking/calls?agencyId=${the.member.workspaceId}`))).toEqual([
    404,
    'not_found',
  ])
  expect((await ask(the.admin.session, '/api/tracking/calls')).status).toBe(200)
  expect((await ask(the.admin.session, `/api/tracking/calls?agencyId=${the.main.workspaceId}`)).status).toBe(404)
})

it('a key opens its own workspace whatever agencyId says', async () => {
  const { body } = await ask(the.main.key, `/api/v1/campaigns?agencyId=${the.third.workspaceId}`)
  expect(body.data.map(({ name }: { readonly name: string }) => name)).toEqual(['Open'])
})

it('the credential is checked before the path, and the path before the query', async () => {
  expect(codeOf(await ask(null, '/api/v1/calls/x?page=0'))).toEqual([401, 'missing_key'])
  expect(codeOf(await ask(the.lapsed.key, '/api/v1/calls/x'))).toEqual([402, 'subscription_inactive'])
  expect(codeOf(await ask(the.main.key, '/api/v1/calls/x'))).toEqual([404, 'not_found'])
})
