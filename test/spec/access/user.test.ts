import { describe, expect, it } from 'vitest'
import { changePassword } from '../../../commands/access/change-password.ts'
import { createApiKey } from '../../../commands/access/create-api-key.ts'
import { extendSession } from '../../../commands/access/extend-session.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
import { requestPasswordReset } from '../../../commands/access/request-password-reset.ts'
import { resetPassword } from '../../../commands/access/reset-password.ts'
import { signIn } from '../../../commands/access/sign-in.ts'
import { signOut } from '../../../commands/access/sign-out.ts'
import { user, userIdOf } from '../../../src/domain/access/user.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { SESSION } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { given, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, hashOf } from '../../support/fixtures/workspace-fixture.ts'

const person = { email: 'ada@example.com', name: 'Ada', passwordHash: '$argon2id$…' }
const userId = userIdOf(person.email)
const registered = given(user).when(registerUser, person)

describe('register-user', () => {
  it('derives the user’s id from the address in any case', () => {
    expect(userIdOf(' Ada@Example.com ')).toBe(userId)
    expect(registerUser.id(person, WORKSPACE)).toBe(userId)
  })

  it('refuses a registered address', () => {
    registered.gives([{ type: 'UserRegistered', data: { userId, name: 'Ada' } }])
    given(user, registered.events).when(registerUser, person).gives({ refused: 'conflict' })
  })
})

describe('sign-in and sign-out', () => {
  const session = { userId, sessionHash: hashOf('one'), expiresAt: '2026-03-11T03:00:00.000Z' }

  it('removes expired sessions', () => {
    const old = { ...session, sessionHash: hashOf('old'), expiresAt: '2026-03-09T00:00:00.000Z' }
    const earlier = given(user, registered.events).when(signIn, old).events
    const { outcome, state } = given(user, earlier).when(signIn, session)
    expect(outcome).toMatchObject([{ type: 'SignedIn', data: { expired: [old.sessionHash] } }])
    expect([...state.sessions.keys()]).toEqual([session.sessionHash])
  })

  it('ends a session once', () => {
    const { sessionHash } = session
    const signedIn = given(user, registered.events).when(signIn, session).events
    const out = given(user, signedIn).when(signOut, { userId, sessionHash })
    out.gives([{ type: 'SignedOut', data: { sessionHash } }])
    given(user, out.events).when(signOut, { userId, sessionHash }).gives([])
  })
})

describe('the password', () => {
  const session = (secret: string, expiresAt = '2026-03-11T03:00:00.000Z') => ({
    userId,
    sessionHash: hashOf(secret),
    expiresAt,
  })
  const signedIn = given(user, given(user, registered.events).when(signIn, session('one')).events).when(
    signIn,
    session('two'),
  ).events
  const change = { userId, verified: person.passwordHash, passwordHash: '$argon2id$other', sessionHash: hashOf('two') }

  it('changes once and ends all other sessions', () => {
    const changed = given(user, signedIn).when(changePassword, change)
    changed.gives([{ type: 'PasswordChanged', data: { passwordHash: change.passwordHash, ended: [hashOf('one')] } }])
    expect([...changed.state.sessions.keys()]).toEqual([hashOf('two')])
    expect(changed.state.user?.passwordHash).toBe(change.passwordHash)
    // Two at once were verified against the same hash: the second is too late.
    given(user, changed.events).when(changePassword, change).gives({ refused: 'conflict' })
    given(user).when(changePassword, change).gives({ refused: 'user-not-found' })
  })

  it('is reset by the newest token, once, within an hour, and every session ends', () => {
    const request = (secret: string, over = signedIn) =>
      given(user, over).when(requestPasswordReset, { email: person.email, tokenHash: hashOf(secret) }).events
    const reset = (secret: string, over: readonly NewEvent[], ms = 0) =>
      given(user, over).when(
        resetPassword,
        { userId, tokenHash: hashOf(secret), passwordHash: '$argon2id$reset' },
        { at: new Date(Date.parse(NOW) + ms).toISOString() },
      )
    const requested = request('second', request('first'))
    reset('first', requested).gives({ refused: 'password-reset-not-found' })
    const done = reset('second', requested, 3_600_000 - 1)
    done.gives([{ type: 'PasswordChanged', data: { ended: [hashOf('one'), hashOf('two')] } }])
    expect(done.state.sessions.size).toBe(0)
    reset('second', requested, 3_600_000).gives({ refused: 'password-reset-not-found' })
    reset('second', done.events).gives({ refused: 'password-reset-not-found' })
    // A password that its owner changed meanwhile ends the reset too.
    reset('second', given(user, requested).when(changePassword, change).events).gives({
      refused: 'password-reset-not-found',
    })
  })

  it('opens no session when it was changed after its verification', () => {
    const changed = given(user, signedIn).when(changePassword, change).events
    given(user, changed)
      .when(signIn, { ...session('three'), verified: person.passwordHash })
      .gives({ refused: 'unauthorized' })
    given(user, changed)
      .when(signIn, { ...session('three'), verified: change.passwordHash })
      .gives([{ type: 'SignedIn' }])
    given(user).when(signIn, session('three')).gives({ refused: 'user-not-found' })
  })
})

describe('extend-session', () => {
  const lasting = (expiresAt: string) =>
    given(user, registered.events).when(signIn, { userId, sessionHash: hashOf('one'), expiresAt }).events
  const one = { userId, sessionHash: hashOf('one') }

  it('renews a session to its full duration once more than an hour of it is used', () => {
    // Now it is 15:00: eleven hours are left at 02:00.
    const extended = given(user, lasting('2026-03-11T01:59:59.999Z')).when(extendSession, one)
    extended.gives([{ type: 'SessionExtended', data: { ...one, expiresAt: '2026-03-11T03:00:00.000Z' } }])
    given(user, extended.events).when(extendSession, one).gives([])
    given(user, lasting('2026-03-11T02:00:00.000Z')).when(extendSession, one).gives([])
    given(user, lasting('2026-03-10T15:00:00.001Z'))
      .when(extendSession, one)
      .gives([{ type: 'SessionExtended' }])
  })

  it('does not renew an expired session', () => {
    given(user, lasting('2026-03-10T15:00:00.000Z')).when(extendSession, one).gives([])
    const out = given(user, lasting('2026-03-10T16:00:00.000Z')).when(signOut, one).events
    given(user, out).when(extendSession, one).gives([])
  })
})

describe('sessions of a user', () => {
  const held = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      type: 'SignedIn',
      data: {
        userId,
        sessionHash: hashOf(`${n}`),
        // The newest ends first: it is not the age that counts.
        expiresAt: new Date(Date.parse('2026-03-11T03:00:00.000Z') - n).toISOString(),
        expired: [],
      },
    }))
  const another = { userId, sessionHash: hashOf('another'), expiresAt: '2026-03-11T03:00:00.000Z' }

  it('are limited; one more ends the session with the earliest end', () => {
    given(user, [...registered.events, ...held(SESSION.perUser - 1)])
      .when(signIn, another)
      .gives([{ type: 'SignedIn', data: { expired: [] } }])
    given(user, [...registered.events, ...held(SESSION.perUser)])
      .when(signIn, another)
      .gives([{ type: 'SignedIn', data: { expired: [hashOf(`${SESSION.perUser - 1}`)] } }])
  })
})

describe('create-api-key', () => {
  const key = { name: 'CI', scopes: ['calls:read'], prefix: 'svc_test_ab', hash: hashOf('key') }

  it('keeps the hash, at the usual rate', () => {
    given(workspace, emptyWorkspace())
      .when(createApiKey, key)
      .gives([
        {
          type: 'ApiKeyCreated',
          data: {
            apiKey: { rateLimitPerMinute: 120, status: 'active', secrets: [{ hash: key.hash, expiresAt: null }] },
          },
        },
      ])
  })

  it('refuses a plan without keys', () => {
    given(workspace, emptyWorkspace('starter'))
      .when(createApiKey, key)
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxApiKeys', limit: 0, current: 0 } })
  })

  it('knows its scopes and addresses', () => {
    const accepts = (sent: object) => createApiKey.input.safeParse({ ...key, ...sent }).success
    expect(accepts({ scopes: ['calls:delete'] })).toBe(false)
    expect([accepts({ ipAllowlist: ['10.0.0.0/8'] }), accepts({ ipAllowlist: ['everywhere'] })]).toEqual([true, false])
  })
})
