import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { signIn as openSession } from '../../../commands/access/sign-in.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusAndCode, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { inviteToPortal, openPortalUser, PORTAL_PASSWORD, switchPortal } from '../../support/e2e/portal-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const SESSION = '/api/portal/session'
const ACCEPT = '/api/auth/invitations/accept'
const newEmail = () => `${randomUUID()}@publisher.example`

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const lapsing = await createTenantWorkspace(writer, { name: 'Lapsing' })
  const expired = randomUUID()
  const owner = { userId: userIdOf(main.email), sessionHash: secretHash(expired), expiresAt: new Date().toISOString() }
  await main.act(openSession, owner)
  const theirs = await other.publisher({ name: 'Far Leads' })
  const line = await lapsing.line({ name: 'Late' }, [await lapsing.target(await lapsing.buyer({ name: 'Acme' }))], {
    publisherId: await lapsing.publisher({ name: 'Late Leads' }),
  })
  return { main, other, lapsing, theirs, line, expired }
}

const { it, describe, beforeEach, main, the, client, server } = suite('portal access', world)

let blue = ''
let red = ''
/** Each test has publishers of its own. */
beforeEach(async () => {
  const made = await Promise.all([
    the.main.publisher({ name: 'Blue Leads' }),
    the.main.publisher({ name: 'Red Leads' }),
  ])
  ;[blue, red] = [made[0], made[1]]
})

const usersOf = (publisherId: string) => `/api/tracking/publishers/${publisherId}/users`
const post = (path: string, body: Json, token: string | null = null) => client(token)(path, { method: 'POST', body })
const signIn = (email: string) => post('/api/auth/sign-in', { email, password: PORTAL_PASSWORD })
const rowsOf = async (publisherId: string) => (await main.console(usersOf(publisherId))).body.data

describe('an invitation to the portal', () => {
  it('opens it once it is accepted, and is listed before', async () => {
    await switchPortal(main, blue, true)
    const email = newEmail()
    const { invitation, token } = await inviteToPortal(main, blue, email)
    expect(invitation).toEqual({ id: expect.any(String), email, name: 'Grace', expiresAt: expect.any(String) })
    expect(Math.round((Date.parse(invitation.expiresAt) - Date.now()) / 3_600_000)).toBe(7 * 24)
    expect(await rowsOf(blue)).toEqual([
      { id: invitation.id, email, name: 'Grace', status: 'invited', createdAt: expect.any(String) },
    ])

    const accepted = await post(ACCEPT, { token, password: PORTAL_PASSWORD })
    const agencyId = the.main.workspaceId
    const publishers = [{ agencyId, publisherId: blue, name: 'Blue Leads' }]
    expect(accepted.body).toMatchObject({ seats: [], publishers, user: { id: userIdOf(email), email } })
    expect((await signIn(email)).body).toMatchObject({ seats: [], publishers })
    expect((await client(accepted.body.token)('/api/auth/session')).body).toMatchObject({ seats: [], publishers })
    expect(await rowsOf(blue)).toMatchObject([{ id: userIdOf(email), email, status: 'member' }])
    expect(statusAndCode(await post(ACCEPT, { token, password: PORTAL_PASSWORD }))).toEqual([404, 'not_found'])
    expect((await client(accepted.body.token)(SESSION)).body).toEqual({
      expiresAt: expect.any(String),
      user: { id: userIdOf(email), email, name: 'Grace' },
      publisher: {
        agencyId,
        agencyName: 'Main',
        publisherId: blue,
        name: 'Blue Leads',
        status: 'live',
        routingPrefix: expect.any(String),
        timezone: 'UTC',
        payoutSchedule: 'net_30',
        payoutMethod: 'ach',
        joinedAt: expect.any(String),
      },
    })
  })

  it('tells whether an address has an account to nobody, and is accepted by its password alone', async () => {
    const known = await openPortalUser(server, main, [red])
    const [toKnown, toNew] = [
      await inviteToPortal(main, blue, known.email),
      await inviteToPortal(main, blue, newEmail()),
    ]
    expect(Object.keys(toKnown.invitation)).toEqual(Object.keys(toNew.invitation))
    await switchPortal(main, blue, true)
    const wrong = await post(ACCEPT, { token: toKnown.token, password: 'not the password' })
    expect(statusAndCode(wrong)).toEqual([401, 'unauthorized'])
    const accepted = await post(ACCEPT, { token: toKnown.token }, known.session)
    expect(accepted.body.publishers.map(({ name }: Json) => name)).toEqual(['Red Leads', 'Blue Leads'])
  })

  it('is revoked, is made by an owner, and names wrong fields', async () => {
    const { invitation, token } = await inviteToPortal(main, blue, newEmail())
    const path = `${usersOf(blue)}/invitations/${invitation.id}`
    const elsewhere = await main.console(`${usersOf(red)}/invitations/${invitation.id}`, { method: 'DELETE' })
    expect(statusAndCode(elsewhere)).toEqual([404, 'not_found'])
    expect((await main.console(path, { method: 'DELETE' })).body).toEqual({ deleted: invitation.id })
    expect(statusAndCode(await main.console(path, { method: 'DELETE' }))).toEqual([404, 'not_found'])
    expect(statusAndCode(await post(ACCEPT, { token, password: PORTAL_PASSWORD }))).toEqual([404, 'not_found'])

    const seat = await post('/api/tracking/users', { email: newEmail(), name: 'Ann', role: 'admin' }, the.main.session)
    const admin = (await post(ACCEPT, { token: seat.body.token, password: PORTAL_PASSWORD })).body.token
    expect(statusAndCode(await post(usersOf(blue), { email: newEmail(), name: 'Eve' }, admin))).toEqual([
      403,
      'forbidden',
    ])
    for (const [body, field] of [
      [{ email: 'nobody', name: 'Eve' }, 'email'],
      [{ email: newEmail(), name: '' }, 'name'],
      [{ email: newEmail(), name: 'Eve', role: 'owner' }, 'role'],
      [{ email: newEmail(), name: 'Eve', password: PORTAL_PASSWORD }, 'password'],
    ] as const) {
      const refused = await post(usersOf(blue), body, the.main.session)
      expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
        400,
        'validation_error',
        [field],
      ])
    }
  })

  it('is in the activity log, without its token', async () => {
    const email = newEmail()
    const { invitation, token } = await inviteToPortal(main, blue, email)
    await post(ACCEPT, { token, password: PORTAL_PASSWORD })
    const entries = async (id: string) => (await main.console(`/api/tracking/activity?entityId=${id}`)).body.data
    expect((await entries(invitation.id)).map(({ action }: Json) => action)).toEqual(['accepted', 'created'])
    const [granted] = await entries(userIdOf(email))
    expect(granted).toMatchObject({ action: 'portal_granted', actor: { id: userIdOf(email) } })
    expect(granted.summary).toContain('Blue Leads')
    expect(JSON.stringify(await entries(invitation.id))).not.toContain(token)
  })
})

describe('the portal', () => {
  it('is open while it is switched on, also to sessions that are open', async () => {
    const { portal, session, email } = await openPortalUser(server, main, [blue])
    expect((await portal(SESSION)).status).toBe(200)
    await switchPortal(main, blue, false)
    expect(statusAndCode(await portal(SESSION))).toEqual([403, 'forbidden'])
    const named = await portal(`${SESSION}?publisherId=${blue}`)
    const unknown = await portal(`${SESSION}?publisherId=${UNKNOWN_ID}`)
    expect(statusAndCode(named)).toEqual([404, 'not_found'])
    expect(errorWithoutRequestId(named)).toBe(errorWithoutRequestId(unknown))
    expect((await signIn(email)).body).toMatchObject({ seats: [], publishers: [] })
    expect((await client(session)('/api/auth/session')).status).toBe(200)
    await switchPortal(main, blue, true)
    expect((await portal(SESSION)).status).toBe(200)
  })

  it('stays open to a publisher that is paused or terminated: what it earned is still its own', async () => {
    const { portal } = await openPortalUser(server, main, [blue])
    for (const status of ['paused', 'terminated']) {
      await main.console(`/api/tracking/publishers/${blue}/status`, { method: 'POST', body: { status, note: 'Late' } })
      const { body, text } = await portal(SESSION)
      expect(body.publisher?.status, text).toBe(status)
      expect(text).not.toContain('Late')
    }
  })

  it('is closed at once to a user who is removed, by the workspace of the publisher alone', async () => {
    const { portal, id, session } = await openPortalUser(server, main, [blue])
    const path = `${usersOf(blue)}/${id}`
    for (const refused of [
      await client(the.other.session)(path, { method: 'DELETE' }),
      await main.console(`${usersOf(red)}/${id}`, { method: 'DELETE' }),
      await main.console(`${usersOf(the.theirs)}/${id}`, { method: 'DELETE' }),
    ])
      expect(statusAndCode(refused)).toEqual([404, 'not_found'])
    expect((await portal(SESSION)).status).toBe(200)
    expect((await main.console(path, { method: 'DELETE' })).body).toEqual({ deleted: id })
    expect(statusAndCode(await portal(SESSION))).toEqual([403, 'forbidden'])
    expect((await client(session)('/api/auth/session')).body.publishers).toEqual([])
    expect(statusAndCode(await main.console(path, { method: 'DELETE' }))).toEqual([404, 'not_found'])
    expect(await rowsOf(blue)).toEqual([])
  })

  it('of several publishers needs the name of one, and takes no other', async () => {
    const { portal } = await openPortalUser(server, main, [blue, red])
    const unnamed = await portal(SESSION)
    expect([...statusAndCode(unnamed), Object.keys(unnamed.body.error.details)]).toEqual([
      400,
      'bad_request',
      ['publisherId'],
    ])
    const named = await portal(`${SESSION}?publisherId=${red.toUpperCase()}`)
    expect([named.body.publisher.name, named.headers.get('svc-ignored-parameters')]).toEqual(['Red Leads', null])
    const answers = await Promise.all(
      [the.theirs, UNKNOWN_ID, the.main.workspaceId, 'x', ''].map((id) => portal(`${SESSION}?publisherId=${id}`)),
    )
    expect(new Set(answers.map((answer) => statusAndCode(answer).join(' ')))).toEqual(new Set(['404 not_found']))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    // Of a parameter that is sent twice the last one counts, here as everywhere.
    expect(statusAndCode(await portal(`${SESSION}?publisherId=${red}&publisherId=${the.theirs}`))).toEqual([
      404,
      'not_found',
    ])
  })

  it('and a seat of one person do not open each other', async () => {
    const email = newEmail()
    const user = await openPortalUser(server, main, [blue], email)
    const seat = await post('/api/tracking/users', { email, name: 'Grace', role: 'admin' }, the.other.session)
    expect((await post(ACCEPT, { token: seat.body.token }, user.session)).status).toBe(200)
    const { seats, publishers } = (await signIn(email)).body
    expect([seats.length, publishers.length]).toEqual([1, 1])
    expect((await user.portal('/api/tracking/workspace')).body.workspace.id).toBe(the.other.workspaceId)
    const asked = await user.portal(`/api/tracking/workspace?agencyId=${the.main.workspaceId}`)
    expect(statusAndCode(asked)).toEqual([404, 'not_found'])
    expect((await user.portal(SESSION)).body.publisher.publisherId).toBe(blue)
    expect(statusAndCode(await user.portal(`${SESSION}?publisherId=${the.theirs}`))).toEqual([404, 'not_found'])
  })

  it('takes no key, no seat and no session that has ended', async () => {
    for (const token of [null, the.main.key, 'sess_unknown', the.expired])
      expect(statusAndCode(await client(token)(SESSION))).toEqual([401, 'unauthorized'])
    expect(statusAndCode(await client(the.main.session)(SESSION))).toEqual([403, 'forbidden'])
    expect(statusAndCode(await client(the.main.session)(`${SESSION}?publisherId=${blue}`))).toEqual([404, 'not_found'])
    const { portal, session } = await openPortalUser(server, main, [blue])
    expect((await post('/api/auth/sign-out', {}, session)).status).toBe(204)
    expect(statusAndCode(await portal(SESSION))).toEqual([401, 'unauthorized'])
  })

  it('of a lapsed workspace stays readable, and its key stays as it is', async () => {
    const late = createTenantClient(server, () => the.lapsing)
    const { campaignId } = the.line
    const { lanes } = (await late.console(`/api/tracking/campaigns/${campaignId}/publishers`)).body
    const { portal } = await openPortalUser(server, late, [lanes[0].publisherId])
    const administered = `/api/operator/workspaces/${the.lapsing.workspaceId}`
    const body = { subscriptionStatus: 'canceled' }
    expect((await client(OPERATOR_TOKEN)(administered, { method: 'PATCH', body })).status).toBe(200)
    expect((await portal('/api/portal/lanes')).body.lanes).toHaveLength(1)
    const refused = await portal(`/api/portal/keys/${lanes[0].key.id}/rotate`, { method: 'POST', body: {} })
    expect(statusAndCode(refused)).toEqual([402, 'subscription_inactive'])
    expect(refused.body.error.details).toBe(null)
  })
})
