import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { userIdOf } from '../../../src/domain/access/user.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiResponse,
  errorWithoutRequestId,
  type Json,
  queryString,
  statusAndCode,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { cancelSubscription, createTenantWorkspace, grantRole } from '../../support/e2e/world.ts'

/** The stores may hold data of earlier runs: addresses are unique per run. */
const PEOPLE = `${randomUUID()}.example`
const PASSPHRASE = 'correct horse battery'
const USERS = '/api/tracking/users'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const member = await createTenantWorkspace(writer, { name: 'Member only' })
  await cancelSubscription(lapsed)
  await grantRole(writer, member.email, member, 'member')
  return { main, other, lapsed, member }
}

const { it, describe, beforeEach, the, client } = suite('people of a workspace', world)

let people = 0
let person = { email: '', name: '', password: PASSPHRASE }

beforeEach(() => {
  people += 1
  person = { email: `person-${people}@${PEOPLE}`, name: `Person ${people}`, password: PASSPHRASE }
})

const write = (method: string, path: string, body: Json, token = the.main.session) =>
  client(token)(path, { method, body })
const invite = (body: Json, token = the.main.session) => write('POST', USERS, body, token)
/** Invites the person at hand, who accepts; returns their id. */
const added = async (role: string, token = the.main.session) => {
  const { email, name, password } = person
  const invited = await invite({ email, name, role }, token)
  expect(invited.status, invited.text).toBe(201)
  const accepted = await write('POST', '/api/auth/invitations/accept', { token: invited.body.token, password }, '')
  expect(accepted.status, accepted.text).toBe(200)
  return accepted.body.user.id
}
const enter = async (email: string, password = PASSPHRASE): Promise<string> => {
  const { status, body } = await write('POST', '/api/auth/sign-in', { email, password }, '')
  expect(status).toBe(200)
  return body.token
}

it('a changed role and a removed seat apply at once in every session', async () => {
  const id = await added('admin')
  const sessions = [await enter(person.email), await enter(person.email)]
  expect((await client(sessions[0] ?? '')('/api/tracking/workspace')).status).toBe(200)

  const { status, body } = await write('PATCH', `${USERS}/${id}`, { role: 'member' })
  expect([status, body.user.role]).toEqual([200, 'member'])
  for (const token of sessions)
    expect(statusAndCode(await client(token)('/api/tracking/workspace'))).toEqual([403, 'forbidden'])
  expect((await write('PATCH', `${USERS}/${id}`, { role: 'owner' })).body.user.role).toBe('owner')
  for (const token of sessions) expect((await client(token)(USERS)).status).toBe(200)

  expect((await write('DELETE', `${USERS}/${id}`, undefined)).body).toEqual({ deleted: id })
  for (const token of sessions)
    expect(statusAndCode(await client(token)('/api/tracking/workspace'))).toEqual([403, 'forbidden'])
  expect((await client(sessions[0] ?? '')('/api/auth/session')).body.seats).toEqual([])
  expect(statusAndCode(await write('DELETE', `${USERS}/${id}`, undefined))).toEqual([404, 'not_found'])
  const { email, name } = person
  expect((await invite({ email, name, role: 'admin' })).status).toBe(201)
})

it('a repeated removal with its Idempotency-Key gives the same answer', async () => {
  const id = await added('member')
  const remove = (key: string) =>
    client(the.main.session)(`${USERS}/${id}`, { method: 'DELETE', headers: { 'idempotency-key': key } })
  const [first, second] = [await remove('once'), await remove('once')]
  expect([first.status, second.status, second.headers.get('svc-idempotent-replay')]).toEqual([200, 200, 'true'])
  expect(second.body).toEqual(first.body)
  expect(statusAndCode(await remove('again'))).toEqual([404, 'not_found'])
})

it('a missing, a malformed and a foreign user give the same 404', async () => {
  const foreign = await added('admin', the.other.session)
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { role: 'admin' }],
    ['DELETE', undefined],
  ] as const) {
    const answers = await Promise.all([UNKNOWN_ID, 'x', foreign].map((id) => write(method, `${USERS}/${id}`, body)))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'User not found.' } },
    })
  }
})

it('a workspace keeps an owner, also under concurrent removals', async () => {
  const mine = userIdOf(the.main.email)
  const owners = async () =>
    (await client(the.main.session)(`${USERS}${queryString({ role: 'owner', pageSize: 200 })}`)).body.data.map(
      ({ id }: Json) => id,
    )
  for (const id of await owners()) if (id !== mine) await write('DELETE', `${USERS}/${id}`, undefined)
  for (const refused of [
    await write('DELETE', `${USERS}/${mine}`, undefined),
    await write('PATCH', `${USERS}/${mine}`, { role: 'admin' }),
    await write('PATCH', `${USERS}/${mine}`, { role: 'member' }),
  ])
    expect([...statusAndCode(refused), refused.body.error.details]).toEqual([409, 'conflict', { role: 'owner' }])
  expect((await write('PATCH', `${USERS}/${mine}`, { role: 'owner' })).status).toBe(200)

  // Each of six owners demotes all six concurrently.
  const ids = [mine]
  const tokens = [the.main.session]
  for (let n = 0; n < 5; n++) {
    person = { ...person, email: `owner-${n}-${people}@${PEOPLE}` }
    ids.push(await added('owner'))
    tokens.push(await enter(person.email))
  }
  const answers = await Promise.all(
    tokens.flatMap((token) => ids.map((id) => write('PATCH', `${USERS}/${id}`, { role: 'admin' }, token))),
  )
  expect(new Set(answers.map(({ status }) => status))).toSatisfy((all: Set<number>) => !all.has(500))
  const left = await owners()
  expect(left).toHaveLength(1)
  const keeper = tokens[ids.indexOf(left[0])] ?? ''
  expect((await write('PATCH', `${USERS}/${mine}`, { role: 'owner' }, keeper)).status).toBe(200)
})

it('the list of users is searched, filtered, sorted and paged', async () => {
  const mark = `list${people}`
  for (const [n, role] of ['owner', 'admin', 'admin'].entries()) {
    person = { email: `${mark}-${3 - n}@${PEOPLE}`, name: `${mark} ${n}`, password: PASSPHRASE }
    await added(role)
  }
  const names = async (asked: Record<string, string | number>) =>
    (await client(the.main.session)(`${USERS}${queryString({ q: mark.toUpperCase(), ...asked })}`)).body.data.map(
      ({ name }: Json) => name.at(-1),
    )
  expect(await names({})).toEqual(['2', '1', '0'])
  expect(await names({ sort: 'email', dir: 'asc' })).toEqual(['2', '1', '0'])
  expect(await names({ sort: 'name', dir: 'asc' })).toEqual(['0', '1', '2'])
  expect(await names({ role: 'admin' })).toEqual(['2', '1'])
  expect(await names({ page: 2, pageSize: 2 })).toEqual(['0'])
  const { body } = await client(the.other.session)(`${USERS}${queryString({ q: mark })}`)
  expect([body.total, body.data]).toEqual([0, []])
  expect(statusAndCode(await client(the.main.session)(`${USERS}?role=boss`))).toEqual([400, 'validation_error'])
})

it('a changed name and zone of the workspace show at once everywhere', async () => {
  const { body } = await client(the.other.session)('/api/tracking/workspace')
  expect(body.workspace).toMatchObject({ id: the.other.workspaceId, name: 'Other', timezone: 'UTC', planId: 'scale' })
  const changed = await write('PATCH', '/api/tracking/workspace', { timezone: 'Asia/Tokyo' }, the.other.session)
  expect([changed.status, changed.body.workspace]).toEqual([200, { ...body.workspace, timezone: 'Asia/Tokyo' }])
  await write('PATCH', '/api/tracking/workspace', { name: 'Ω' }, the.other.session)
  expect((await client(the.other.session)('/api/auth/session')).body.seats).toMatchObject([{ agencyName: 'Ω' }])
  await write('PATCH', '/api/tracking/workspace', { name: 'Other' }, the.other.session)
  for (const [sent, code, fields] of [
    [{}, 'bad_request', []],
    [{ timezone: '+01:00' }, 'validation_error', ['timezone']],
    [{ timezone: 'x'.repeat(65) }, 'validation_error', ['timezone']],
    [{ name: '' }, 'validation_error', ['name']],
    [{ name: 'x'.repeat(121) }, 'validation_error', ['name']],
    [{ planId: 'scale', sandbox: true }, 'validation_error', ['planId', 'sandbox']],
  ] as const) {
    const refused = await write('PATCH', '/api/tracking/workspace', sent, the.other.session)
    expect([...statusAndCode(refused), Object.keys(refused.body.error.details ?? {}).toSorted()]).toEqual([
      400,
      code,
      fields,
    ])
  }
})

it('an outdated If-Match is refused, on a user and on the workspace', async () => {
  const id = await added('admin', the.other.session)
  for (const [path, first, second] of [
    [`${USERS}/${id}`, { role: 'member' }, { role: 'owner' }],
    ['/api/tracking/workspace', { timezone: 'Europe/Rome' }, { timezone: 'UTC' }],
  ] as const) {
    const send = (method: string, body?: Json, tag?: string) =>
      client(the.other.session)(path, { method, body, headers: tag === undefined ? {} : { 'if-match': tag } })
    const tagOf = ({ headers }: ApiResponse) => headers.get('etag') ?? 'none'
    const read = await send('GET')
    const changed = await send('PATCH', first, tagOf(read))
    expect(changed.status).toBe(200)
    expect(tagOf(changed)).not.toBe(tagOf(read))
    expect(statusAndCode(await send('PATCH', second, tagOf(read)))).toEqual([412, 'conflict'])
    const after = await send('GET')
    expect([tagOf(after), after.body]).toEqual([tagOf(changed), changed.body])
    expect((await send('PATCH', second, tagOf(after))).status).toBe(200)
  }
  expect(
    statusAndCode(
      await client(the.other.session)(`${USERS}/${id}`, { method: 'DELETE', headers: { 'if-match': '"0"' } }),
    ),
  ).toEqual([412, 'conflict'])
})

describe(documentLine('console 403 forbidden'), () => {
  it('a user without an owner or admin seat who names no workspace is forbidden', async () => {
    for (const path of [USERS, '/api/tracking/workspace', '/api/tracking/buyers'])
      expect(statusAndCode(await client(the.member.session)(path))).toEqual([403, 'forbidden'])
    expect(statusAndCode(await invite({ ...person, role: 'admin' }, the.member.session))).toEqual([403, 'forbidden'])
  })

  it('an admin reads users and changes none: refused before the path and the body', async () => {
    const id = await added('admin')
    const token = await enter(person.email)
    expect((await client(token)(`${USERS}/${id}`)).body.user.role).toBe('admin')
    for (const refused of [
      await invite({ nonsense: true }, token),
      await write('PATCH', `${USERS}/x`, {}, token),
      await write('PATCH', `${USERS}/${id}`, { role: 'owner' }, token),
      await write('DELETE', `${USERS}/${id}`, undefined, token),
    ])
      expect(statusAndCode(refused)).toEqual([403, 'forbidden'])
    expect((await write('PATCH', '/api/tracking/workspace', { name: 'Main' }, token)).status).toBe(200)
  })
})

it(documentLine('console 404 not_found'), async () => {
  for (const agencyId of [the.other.workspaceId, UNKNOWN_ID, 'nonsense', '']) {
    for (const [method, path, body] of [
      ['GET', USERS, undefined],
      ['POST', USERS, { ...person, role: 'admin' }],
      ['PATCH', '/api/tracking/workspace', { name: 'Mine' }],
    ] as const) {
      const answer = await write(method, `${path}?agencyId=${agencyId}`, body)
      expect(answer).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found', message: 'Workspace not found.' } },
      })
    }
  }
  // A member sees as little of the workspace as any other user.
  const own = `/api/tracking/workspace?agencyId=${the.member.workspaceId}`
  expect(statusAndCode(await client(the.member.session)(own))).toEqual([404, 'not_found'])
})

it(documentLine('console 402 subscription_inactive'), async () => {
  const { session, workspaceId } = the.lapsed
  for (const path of [USERS, '/api/tracking/workspace', '/api/tracking/buyers'])
    expect((await client(session)(path)).status).toBe(200)
  for (const [method, path] of [
    ['POST', USERS],
    ['PATCH', `${USERS}/x`],
    ['DELETE', `${USERS}/${UNKNOWN_ID}`],
    ['PATCH', '/api/tracking/workspace'],
    ['POST', '/api/tracking/buyers'],
  ] as const) {
    const answer = await write(method, path, { nonsense: true }, session)
    expect(statusAndCode(answer)).toEqual([402, 'subscription_inactive'])
    expect(answer.body.error.details).toEqual({ status: 'canceled', planId: 'scale', agencyId: workspaceId })
  }
})
