import { describe, expect, it } from 'vitest'
import { createApiKey } from '../../commands/create-api-key.ts'
import { grantSeat } from '../../commands/grant-seat.ts'
import { registerUser } from '../../commands/register-user.ts'
import { signIn } from '../../commands/sign-in.ts'
import { signOut } from '../../commands/sign-out.ts'
import { user, userIdOf } from '../../src/domain/user.ts'
import { workspace } from '../../src/domain/workspace.ts'
import { empty, hashOf } from '../support/configured.ts'
import { given, WORKSPACE } from '../support/spec.ts'

const person = { email: 'ada@example.com', name: 'Ada', passwordHash: '$argon2id$…' }
const userId = userIdOf(person.email)
const registered = given(user).when(registerUser, person)

describe('register-user', () => {
  it('takes its stream from the address, whatever the case', () => {
    expect(userIdOf(' Ada@Example.com ')).toBe(userId)
    expect(registerUser.id(person, WORKSPACE)).toBe(userId)
  })

  it('refuses an address twice', () => {
    registered.gives([{ type: 'UserRegistered', data: { userId, name: 'Ada' } }])
    given(user, registered.events).when(registerUser, person).gives({ refused: 'conflict' })
  })
})

describe('grant-seat', () => {
  const seat = { userId, workspaceId: WORKSPACE, workspaceName: 'Acme Media', role: 'owner' }

  it('gives a seat once, and changes its role', () => {
    const seated = given(user, registered.events).when(grantSeat, seat)
    seated.gives([{ type: 'SeatGranted', data: seat }])
    given(user, seated.events).when(grantSeat, seat).gives([])
    given(user, seated.events)
      .when(grantSeat, { ...seat, role: 'admin' })
      .gives([{ type: 'SeatGranted' }])
    given(user).when(grantSeat, seat).gives({ refused: 'user-not-found' })
  })
})

describe('sign-in and sign-out', () => {
  const session = { userId, sessionHash: hashOf('one'), expiresAt: '2026-03-11T03:00:00.000Z' }

  it('forgets sessions that have ended', () => {
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

describe('create-api-key', () => {
  const key = { name: 'CI', scopes: ['calls:read'], prefix: 'svc_test_ab', hash: hashOf('key') }

  it('keeps the hash, at the usual rate', () => {
    given(workspace, empty())
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
    given(workspace, empty('starter'))
      .when(createApiKey, key)
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxApiKeys', limit: 0, current: 0 } })
  })

  it('knows its scopes and addresses', () => {
    const accepts = (sent: object) => createApiKey.input.safeParse({ ...key, ...sent }).success
    expect(accepts({ scopes: ['calls:delete'] })).toBe(false)
    expect([accepts({ ipAllowlist: ['10.0.0.0/8'] }), accepts({ ipAllowlist: ['everywhere'] })]).toEqual([true, false])
  })
})
