import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { registerUser } from '../../../commands/access/register-user.ts'
import { signIn as openSession } from '../../../commands/access/sign-in.ts'
import { hashPassword } from '../../../src/api/passwords.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import { SIGN_IN_FAILURES } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiResponse,
  errorWithoutRequestId,
  type Json,
  statusAndCode,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { storeInvitation, storePasswordReset } from '../../support/fixtures/store-tokens.ts'

const PASSPHRASE = 'correct horse battery'
const USERS = '/api/tracking/users'
const ACCEPT = '/api/auth/invitations/accept'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const secret = randomUUID()
  const expiresAt = new Date().toISOString()
  const ended = { tokenHash: secretHash(secret), expiresAt }
  const [invitee, signedOut] = [`${randomUUID()}@people.example`, `${randomUUID()}@people.example`]
  await main.act(storeInvitation, { ...ended, email: invitee })
  await main.act(storePasswordReset, { ...ended, email: other.email })
  await main.act(registerUser, { email: signedOut, name: 'Ada', passwordHash: await hashPassword(PASSPHRASE) })
  await main.act(openSession, { userId: userIdOf(signedOut), sessionHash: secretHash(secret), expiresAt })
  return { main, other, expired: secret, invitee, signedOut }
}

const { it, describe, beforeEach, the, client } = suite('invitations', world)

let person = { email: '', name: '' }
beforeEach(() => {
  person = { email: `${randomUUID()}@people.example`, name: 'Ada' }
})

const post = (path: string, body: Json, token: string | null = null, headers: Readonly<Record<string, string>> = {}) =>
  client(token)(path, { method: 'POST', body, headers })
const invite = (body: Json, token = the.main.session) => post(USERS, body, token)
const invited = async (settings: Json = {}, token = the.main.session) => {
  const { status, body, text } = await invite({ ...person, role: 'admin', ...settings }, token)
  expect(status, text).toBe(201)
  return body
}
const signIn = (password: string) => post('/api/auth/sign-in', { email: person.email, password })
/** Registers the person at hand, with a seat in the other workspace. */
const registered = async () => {
  const { token } = await invited({}, the.other.session)
  return (await post(ACCEPT, { token, password: PASSPHRASE })).body
}

describe('an invitation', () => {
  it('gives a new person a seat once it is accepted, and no access before', async () => {
    const { invitation, token } = await invited()
    expect(invitation).toEqual({ id: expect.any(String), ...person, role: 'admin', expiresAt: expect.any(String) })
    expect(Math.round((Date.parse(invitation.expiresAt) - Date.now()) / 3_600_000)).toBe(7 * 24)
    expect(token).toMatch(/^inv_[\w-]{43}$/)
    const rows = (await client(the.main.session)(`${USERS}?q=${person.email}`)).body
    expect(rows.data).toMatchObject([{ id: invitation.id, email: person.email, role: 'admin', status: 'invited' }])
    expect(statusAndCode(await client(the.main.session)(`${USERS}/${invitation.id}`))).toEqual([404, 'not_found'])
    expect((await signIn(PASSPHRASE)).status).toBe(401)

    const accepted = await post(ACCEPT, { token, password: PASSPHRASE, name: 'Ada Lovelace' })
    expect(accepted.status, accepted.text).toBe(200)
    expect(accepted.body).toEqual({
      token: expect.stringMatching(/^sess_/),
      expiresAt: expect.any(String),
      user: { id: userIdOf(person.email), email: person.email, name: 'Ada Lovelace' },
      seats: [{ agencyId: the.main.workspaceId, agencyName: 'Main', role: 'admin' }],
      publishers: [],
    })
    expect((await client(accepted.body.token)('/api/tracking/workspace')).status).toBe(200)
    expect((await signIn(PASSPHRASE)).status).toBe(200)
    const after = (await client(the.main.session)(`${USERS}?q=${person.email}`)).body
    expect(after.data).toMatchObject([{ id: userIdOf(person.email), name: 'Ada Lovelace', status: 'member' }])
  })

  it('is accepted once', async () => {
    const { token } = await invited()
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(ACCEPT, { token, password: PASSPHRASE })))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(statusAndCode)).toEqual(Array(4).fill([404, 'not_found']))
    expect(statusAndCode(await post(ACCEPT, { token, password: PASSPHRASE }))).toEqual([404, 'not_found'])
  })

  it('of an address with an account shows nothing of it, and changes nothing before its owner accepts', async () => {
    const { token: session } = await registered()
    const { invitation, token } = await invited({ name: 'Impostor' })
    expect(invitation).toMatchObject({ email: person.email, name: 'Impostor' })
    for (const password of ['stolen stolen', undefined]) {
      const refused = await post(ACCEPT, { token, password, name: 'Impostor' })
      expect(statusAndCode(refused)).toEqual([401, 'unauthorized'])
    }
    expect((await client(session)(USERS)).status).toBe(200)
    expect((await signIn('stolen stolen')).status).toBe(401)
    const accepted = await post(ACCEPT, { token, password: PASSPHRASE, name: 'Other name' })
    expect(accepted.body.user.name).toBe('Ada')
    const { data } = (await client(the.main.session)(`${USERS}?q=${person.email}`)).body
    expect(data).toMatchObject([{ name: 'Ada', status: 'member' }])
    expect(accepted.body.seats.map(({ agencyName }: Json) => agencyName)).toEqual(['Other', 'Main'])
    expect(statusAndCode(await client(session)(USERS))).toEqual([400, 'bad_request'])
  })

  it('is accepted by the session of the account, and by no other session', async () => {
    const { token: session } = await registered()
    const { token } = await invited()
    expect(statusAndCode(await post(ACCEPT, { token }, the.other.session))).toEqual([401, 'unauthorized'])
    expect(statusAndCode(await post(ACCEPT, { token }, 'sess_unknown'))).toEqual([401, 'unauthorized'])
    expect((await post(ACCEPT, { token }, session)).status).toBe(200)
    const { token: theirs } = await invited({ email: the.signedOut })
    expect(statusAndCode(await post(ACCEPT, { token: theirs }, the.expired))).toEqual([401, 'unauthorized'])
  })

  it('that has expired is one that never was, and its password opens no account', async () => {
    const expired = await post(ACCEPT, { token: the.expired, password: PASSPHRASE })
    const unknown = await post(ACCEPT, { token: 'inv_unknown', password: PASSPHRASE })
    expect(statusAndCode(expired)).toEqual([404, 'not_found'])
    expect(errorWithoutRequestId(expired)).toBe(errorWithoutRequestId(unknown))
    person = { ...person, email: the.invitee }
    expect(statusAndCode(await signIn(PASSPHRASE))).toEqual([401, 'unauthorized'])
    expect((await client(the.main.session)(`${USERS}?q=${person.email}`)).body.total).toBe(0)
    const { token } = await invited()
    expect((await post(ACCEPT, { token, password: 'another passphrase' })).body.user.name).toBe('Ada')
  })

  it('accepted by a session is replayed to that session alone', async () => {
    const { token: session } = await registered()
    const { token } = await invited()
    const once = { 'idempotency-key': randomUUID() }
    const before = await post(ACCEPT, { token }, null, once)
    expect(statusAndCode(before)).toEqual([401, 'unauthorized'])
    const accepted = await post(ACCEPT, { token }, session, once)
    expect(accepted.status, accepted.text).toBe(200)
    const repeated = await post(ACCEPT, { token }, session, once)
    expect([repeated.body, repeated.headers.get('svc-idempotent-replay')]).toEqual([accepted.body, 'true'])
    for (const other of [null, the.other.session, 'sess_unknown']) {
      const refused = await post(ACCEPT, { token }, other, once)
      expect(refused.status, refused.text).toBeGreaterThanOrEqual(400)
      expect(refused.text).not.toContain('sess_')
    }
  })

  it('is worth nothing once revoked, and once a new one was made', async () => {
    const { invitation, token } = await invited()
    const path = `${USERS}/invitations/${invitation.id}`
    const foreign = await client(the.other.session)(path, { method: 'DELETE' })
    expect(statusAndCode(foreign)).toEqual([404, 'not_found'])
    expect((await client(the.main.session)(path, { method: 'DELETE' })).body).toEqual({ deleted: invitation.id })
    expect(statusAndCode(await client(the.main.session)(path, { method: 'DELETE' }))).toEqual([404, 'not_found'])
    expect(statusAndCode(await post(ACCEPT, { token, password: PASSPHRASE }))).toEqual([404, 'not_found'])
    const first = await invited()
    const second = await invited({ email: person.email.toUpperCase() })
    expect((await post(ACCEPT, { token: first.token, password: PASSPHRASE })).status).toBe(404)
    const { total } = (await client(the.main.session)(`${USERS}?q=${person.email}`)).body
    expect(total).toBe(1)
    expect((await post(ACCEPT, { token: second.token, password: PASSPHRASE })).status).toBe(200)
  })

  it('of a member is refused', async () => {
    await registered()
    expect(statusAndCode(await invite({ ...person, role: 'admin' }, the.other.session))).toEqual([409, 'conflict'])
  })

  it.each([
    [{ email: 'nobody' }, ['email']],
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(121) }, ['name']],
    [{ password: PASSPHRASE }, ['password']],
    [{ role: 'boss' }, ['role']],
    [{ role: undefined }, ['role']],
    [{ userId: UNKNOWN_ID }, ['userId']],
  ])('%j is a validation_error', async (change, fields) => {
    const answer = await invite({ ...person, role: 'admin', ...change })
    expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
    expect(Object.keys(answer.body.error.details)).toEqual(fields)
  })

  it('of a new address needs a password', async () => {
    const { token } = await invited()
    for (const password of [undefined, 'short', 'x'.repeat(201)]) {
      const refused = await post(ACCEPT, { token, password })
      expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
        400,
        'validation_error',
        ['password'],
      ])
    }
    expect((await post(ACCEPT, { token, password: 'x'.repeat(8) })).status).toBe(200)
    expect(statusAndCode(await post(ACCEPT, { token: 'inv_unknown', password: PASSPHRASE }))).toEqual([
      404,
      'not_found',
    ])
  })

  it('is in the activity log, without its token', async () => {
    const { invitation, token } = await invited()
    await post(ACCEPT, { token, password: PASSPHRASE })
    const { body, text } = await client(the.main.session)(
      `/api/tracking/activity?kind=invitation&entityId=${invitation.id}`,
    )
    expect(body.data.map(({ action }: Json) => action)).toEqual(['accepted', 'created'])
    expect(text).not.toContain(token)
  })

  it('goes to its page of the list after the members', async () => {
    await registered()
    await invited({ email: `open-${person.email}` }, the.other.session)
    const list = (page: number) => client(the.other.session)(`${USERS}?pageSize=200&page=${page}&sort=name&dir=asc`)
    const statuses = (await list(1)).body.data.map(({ status }: Json) => status)
    expect(statuses).toEqual(statuses.toSorted((one: string, other: string) => (one < other ? 1 : -1)))
    expect(new Set(statuses)).toEqual(new Set(['member', 'invited']))
  })
})

describe('an account that a stranger opened under the address of somebody else', () => {
  const WORKSPACES = '/api/operator/workspaces'
  const byOperator = (path: string, body: Json) => post(path, body, OPERATOR_TOKEN)
  const workspaceFor = (owner: Json) =>
    byOperator(WORKSPACES, { name: `New ${randomUUID()}`, timezone: 'UTC', planId: 'scale', owner })

  it('opens no workspace of that person: neither by its password, nor by its session', async () => {
    const { token: strangerSession } = await registered()
    const refused = await workspaceFor({ ...person, password: 'set by the operator' })
    expect(statusAndCode(refused)).toEqual([409, 'conflict'])
    expect((await signIn('set by the operator')).status).toBe(401)

    const { workspace, owner, invitation, token } = (await workspaceFor({ email: person.email, existing: true })).body
    expect([owner, invitation.email]).toEqual([null, person.email])
    const asStranger = (path: string) => client(strangerSession)(`${path}?agencyId=${workspace.id}`)
    expect(statusAndCode(await asStranger('/api/tracking/workspace'))).toEqual([404, 'not_found'])
    expect((await signIn(PASSPHRASE)).body.seats).toHaveLength(1)

    const { token: reset } = (await byOperator('/api/operator/users/password-reset', { email: person.email })).body
    const own = 'of the person alone'
    expect((await post('/api/auth/password-reset', { token: reset, password: own })).status).toBe(204)
    const accepted = await post(ACCEPT, { token, password: own })
    expect(accepted.body.seats.map(({ agencyId }: Json) => agencyId)).toContain(workspace.id)
    expect(statusAndCode(await asStranger('/api/tracking/workspace'))).toEqual([401, 'unauthorized'])
    for (const path of ['/api/auth/sign-in', ACCEPT]) {
      const body = path === ACCEPT ? { token, password: PASSPHRASE } : { email: person.email, password: PASSPHRASE }
      expect((await post(path, body)).status, path).toBeGreaterThanOrEqual(401)
    }
  })

  it('answers an invitation as an address without an account does', async () => {
    await registered()
    const known = await invite({ ...person, role: 'admin' })
    const unknown = await invite({ email: `${randomUUID()}@people.example`, name: person.name, role: 'admin' })
    const shapeOf = ({ status, body, headers }: ApiResponse) => ({
      status,
      fields: [Object.keys(body), Object.keys(body.invitation)],
      headers: [...headers.keys()],
    })
    expect(shapeOf(known)).toEqual(shapeOf(unknown))
  })
})

describe('the seat of an invitation', () => {
  const workspaceOf = (token: string, agencyId: string | null = null) =>
    client(token)(`/api/tracking/workspace${agencyId === null ? '' : `?agencyId=${agencyId}`}`)

  it('opens the workspace once it is accepted, and counts for agencyId from then on', async () => {
    const { token: session } = await registered()
    const { token } = await invited()
    expect((await workspaceOf(session)).body.workspace.id).toBe(the.other.workspaceId)
    expect(statusAndCode(await workspaceOf(session, the.main.workspaceId))).toEqual([404, 'not_found'])
    expect((await post(ACCEPT, { token }, session)).status).toBe(200)
    const unnamed = await workspaceOf(session)
    expect([...statusAndCode(unnamed), Object.keys(unnamed.body.error.details)]).toEqual([
      400,
      'bad_request',
      ['agencyId'],
    ])
    expect((await workspaceOf(session, the.main.workspaceId)).body.workspace.id).toBe(the.main.workspaceId)
  })

  it('as a member alone is no seat', async () => {
    const { token } = await invited({ role: 'member' })
    const { token: session } = (await post(ACCEPT, { token, password: PASSPHRASE })).body
    expect(statusAndCode(await workspaceOf(session))).toEqual([403, 'forbidden'])
    expect(statusAndCode(await workspaceOf(session, the.main.workspaceId))).toEqual([404, 'not_found'])
    const second = await invited({}, the.other.session)
    expect((await post(ACCEPT, { token: second.token }, session)).status).toBe(200)
    expect((await workspaceOf(session)).body.workspace.id).toBe(the.other.workspaceId)
  })

  it('is granted by an owner alone', async () => {
    const { token } = await invited()
    const { token: admin } = (await post(ACCEPT, { token, password: PASSPHRASE })).body
    const { invitation } = (await invite({ email: `${randomUUID()}@people.example`, name: 'Bob', role: 'owner' })).body
    const asAdmin = await Promise.all([
      invite({ email: `${randomUUID()}@people.example`, name: 'Bob', role: 'owner' }, admin),
      client(admin)(`${USERS}/invitations/${invitation.id}`, { method: 'DELETE' }),
      client(admin)(`${USERS}/${userIdOf(person.email)}`, { method: 'PATCH', body: { role: 'owner' } }),
    ])
    expect(asAdmin.map(statusAndCode)).toEqual(Array(3).fill([403, 'forbidden']))
  })

  it('is one, however many at once accept it and revoke it', async () => {
    const { invitation, token } = await invited()
    const revoke = () => client(the.main.session)(`${USERS}/invitations/${invitation.id}`, { method: 'DELETE' })
    const accept = () => post(ACCEPT, { token, password: PASSPHRASE })
    const answers = await Promise.all([accept(), revoke(), accept(), revoke()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const rows = (await client(the.main.session)(`${USERS}?q=${person.email}`)).body.data
    const isAccepted = answers.some(({ status, body }) => status === 200 && body.token !== undefined)
    expect(rows.map(({ status }: Json) => status)).toEqual(isAccepted ? ['member'] : [])
  })
})

describe('wrong passwords for an invitation', () => {
  const guess = (token: string, password: string) => post(ACCEPT, { token, password })

  it('count as wrong passwords of the address', async () => {
    await registered()
    const { token } = await invited()
    for (let n = 0; n < SIGN_IN_FAILURES.pair; n++) expect((await guess(token, `wrong ${n}`)).status).toBe(401)
    const refused = await guess(token, PASSPHRASE)
    expect(statusAndCode(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await signIn(PASSPHRASE)).status).toBe(429)
  })
})

describe('a password reset', () => {
  const RESET = '/api/auth/password-reset'
  const requested = () => post('/api/operator/users/password-reset', { email: person.email }, OPERATOR_TOKEN)

  it('sets a new password once, and ends every session', async () => {
    const { token: session } = await registered()
    const earlier = await requested()
    const { status, body } = await requested()
    expect([status, body]).toEqual([200, { token: expect.stringMatching(/^rst_[\w-]{43}$/) }])
    expect((await client(session)('/api/auth/session')).status).toBe(200)
    const next = { token: body.token, password: 'a new passphrase' }
    expect(statusAndCode(await post(RESET, { ...next, token: earlier.body.token }))).toEqual([404, 'not_found'])
    expect((await post(RESET, next)).status).toBe(204)
    expect((await client(session)('/api/auth/session')).status).toBe(401)
    expect((await signIn(PASSPHRASE)).status).toBe(401)
    expect((await signIn(next.password)).status).toBe(200)
    expect(statusAndCode(await post(RESET, next))).toEqual([404, 'not_found'])
  })

  it('that has expired is one that never was', async () => {
    const reset = (token: string) => post(RESET, { token, password: PASSPHRASE })
    const [expired, unknown] = await Promise.all([reset(the.expired), reset('rst_unknown')])
    expect(statusAndCode(expired)).toEqual([404, 'not_found'])
    expect(errorWithoutRequestId(expired)).toBe(errorWithoutRequestId(unknown))
  })

  it('is refused for an unknown address, and without the operator', async () => {
    expect(statusAndCode(await requested())).toEqual([404, 'not_found'])
    expect((await post('/api/operator/users/password-reset', { email: person.email }, the.main.session)).status).toBe(
      401,
    )
  })

  it('names a password that is too short', async () => {
    await registered()
    const { token } = (await requested()).body
    const refused = await post(RESET, { token, password: 'short' })
    expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
      400,
      'validation_error',
      ['password'],
    ])
    expect((await post(RESET, { token, password: 'long enough' })).status).toBe(204)
  })
})
