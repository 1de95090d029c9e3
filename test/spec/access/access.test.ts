import { describe, expect, test } from 'vitest'
import {
  actorOf,
  authorize,
  type Credential,
  identify,
  type KeyCredential,
  keyCredential,
  type RequestCredentials,
  type SessionCredential,
  type WorkspaceAccess,
} from '../../../src/domain/access/access.ts'
import { allowlistEntry, isAddressAllowed } from '../../../src/domain/access/allowlist.ts'
import { plans } from '../../../src/domain/access/plans.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'

const agency = '0198a000-0000-7000-8000-000000000001'
const second = '0198a000-0000-7000-8000-000000000002'
const stranger = '0198a000-0000-7000-8000-000000000003'
const now = '2026-03-01T12:00:00.000Z'
const later = '2026-03-01T12:00:00.001Z'

const key: KeyCredential = {
  kind: 'key',
  keyId: '0198a000-0000-7000-8000-00000000000a',
  workspaceId: agency,
  name: 'Reports',
  scopes: ['calls:read', 'blocklist:write'],
  ipAllowlist: [],
  rateLimitPerMinute: 120,
  status: 'active',
  secrets: [{ hash: 'aa', expiresAt: null }],
}
const session: SessionCredential = {
  kind: 'session',
  userId: '0198a000-0000-7000-8000-00000000000b',
  name: 'Ann',
  email: 'ann@example.com',
  expiresAt: later,
  seats: [{ agencyId: agency, role: 'admin' }],
  publishers: [],
}
const workspace: WorkspaceAccess = {
  id: agency,
  name: 'One',
  planId: 'scale',
  subscriptionStatus: 'active',
  timezone: 'UTC',
  sandbox: true,
}
const presented: RequestCredentials = { secretHash: 'aa', agencyId: null, publisherId: null, ip: '203.0.113.9', now }

function named(outcome: unknown): unknown {
  return isRefusal(outcome) ? outcome.refused : outcome
}

const rotating: KeyCredential = {
  ...key,
  status: 'rotating',
  secrets: [
    { hash: 'old', expiresAt: later },
    { hash: 'aa', expiresAt: null },
  ],
}
const [first, other] = ['0198a000-0000-7000-8000-00000000001a', '0198a000-0000-7000-8000-00000000001b']
const portal = (workspaceId: string, publisherId: string) => ({ workspaceId, publisherId })
const ofOne: SessionCredential = { ...session, publishers: [{ agencyId: agency, publisherId: first }] }
const ofTwo: SessionCredential = {
  ...session,
  publishers: [...ofOne.publishers, { agencyId: second, publisherId: other }],
}
const seat = (agencyId: string, role: 'owner' | 'admin' | 'member') => ({ agencyId, role })

describe('authentication: the credential and its workspace', () => {
  const accepted = { workspaceId: agency }
  const rows: readonly [
    string,
    'rest' | 'console' | 'portal' | 'sandbox',
    Credential | null,
    Partial<RequestCredentials>,
    unknown,
  ][] = [
    ['a key in force', 'rest', key, {}, accepted],
    ['no key', 'rest', null, { secretHash: null }, 'missing-key'],
    ['an unknown key', 'rest', null, {}, 'invalid-key'],
    ['a revoked key', 'rest', { ...key, status: 'revoked' }, {}, 'invalid-key'],
    ['the new secret of a rotated key', 'rest', rotating, {}, accepted],
    ['the old secret inside its grace', 'rest', rotating, { secretHash: 'old' }, accepted],
    ['the old secret at the end of its grace', 'rest', rotating, { secretHash: 'old', now: later }, 'invalid-key'],
    ['a session where a key belongs', 'rest', session, {}, 'invalid-key'],
    ['a key with no workspace', 'rest', { ...key, workspaceId: null }, {}, 'workspace-required'],
    ['an agencyId beside a key says nothing', 'rest', key, { agencyId: stranger }, accepted],
    ['a session in force', 'console', session, {}, accepted],
    ['the sandbox takes sessions', 'sandbox', session, {}, accepted],
    ['no session', 'console', null, { secretHash: null }, 'unauthorized'],
    ['an unknown session', 'console', null, {}, 'unauthorized'],
    ['an expired session', 'console', session, { now: later }, 'unauthorized'],
    ['a key where a session belongs', 'console', key, {}, 'unauthorized'],
    ['no seat', 'console', { ...session, seats: [] }, {}, 'forbidden'],
    ['a member alone', 'console', { ...session, seats: [seat(agency, 'member')] }, {}, 'forbidden'],
    [
      'a seat and a membership',
      'console',
      { ...session, seats: [seat(second, 'member'), seat(agency, 'owner')] },
      {},
      accepted,
    ],
    [
      'two seats, none named',
      'console',
      { ...session, seats: [seat(agency, 'owner'), seat(second, 'admin')] },
      {},
      'bad-request',
    ],
    [
      'two seats, one named',
      'console',
      { ...session, seats: [seat(second, 'owner'), seat(agency, 'admin')] },
      { agencyId: agency.toUpperCase() },
      accepted,
    ],
    ["another's workspace", 'console', session, { agencyId: stranger }, 'not-found'],
    ['no workspace at all', 'console', session, { agencyId: 'nonsense' }, 'not-found'],
    ["a publisher's user", 'portal', ofOne, {}, portal(agency, first)],
    ['an agencyId beside a publisher says nothing', 'portal', ofOne, { agencyId: stranger }, portal(agency, first)],
    ['an expired session on the portal', 'portal', ofOne, { now: later }, 'unauthorized'],
    ['a key on the portal', 'portal', key, {}, 'unauthorized'],
    ['a seat alone', 'portal', session, {}, 'forbidden'],
    ["a seat alone, and a publisher's name", 'portal', session, { publisherId: first }, 'publisher-not-found'],
    ['two publishers, none named', 'portal', ofTwo, {}, 'bad-request'],
    ['two publishers, one named', 'portal', ofTwo, { publisherId: other.toUpperCase() }, portal(second, other)],
    ["another's publisher", 'portal', ofTwo, { publisherId: stranger }, 'publisher-not-found'],
    ['the workspace as publisher', 'portal', ofOne, { publisherId: agency }, 'publisher-not-found'],
    ['no publisher at all', 'portal', ofOne, { publisherId: '' }, 'publisher-not-found'],
    ["a publisher's user on the console", 'console', { ...ofOne, seats: [] }, {}, 'forbidden'],
    [
      "a publisher's user who names the workspace",
      'console',
      { ...ofOne, seats: [] },
      { agencyId: agency },
      'not-found',
    ],
    [
      "a publisher's user with a seat elsewhere",
      'console',
      { ...ofOne, seats: [seat(second, 'owner')] },
      { agencyId: agency },
      'not-found',
    ],
  ]
  test.each(rows)('%s', (_name, surface, held, change, outcome) => {
    expect(named(identify(surface, held, { ...presented, ...change }))).toEqual(outcome)
  })

  test('several seats and no agencyId: details name agencyId', () => {
    const torn = { ...session, seats: [seat(agency, 'owner'), seat(second, 'admin')] }
    expect(identify('console', torn, presented)).toMatchObject({ details: { agencyId: expect.any(String) } })
  })
})

describe('authorization in the workspace', () => {
  const requests = { surface: 'rest', scope: 'calls:read', write: false } as const
  const fromOutside = { ...key, ipAllowlist: ['198.51.100.0/24'] }
  const unscoped = { ...key, scopes: [] }
  const lapsed = { ...workspace, subscriptionStatus: 'past_due' } as const
  const rows: readonly [string, Parameters<typeof authorize>[0], Credential, WorkspaceAccess | null, unknown][] = [
    ['everything in order', requests, key, workspace, null],
    ['a vanished workspace', requests, key, null, 'workspace-required'],
    ['a read on a lapsed subscription', requests, key, lapsed, 'subscription-inactive'],
    [
      'a canceled subscription',
      requests,
      key,
      { ...workspace, subscriptionStatus: 'canceled' },
      'subscription-inactive',
    ],
    ['a plan without the API', requests, key, { ...workspace, planId: 'starter' }, 'plan-upgrade-required'],
    ['a missing scope', { ...requests, scope: 'pings:read' }, key, workspace, 'insufficient-scope'],
    ['a scope that another implies', { ...requests, scope: 'blocklist:read' }, key, workspace, null],
    ['no scope asked', { ...requests, scope: null }, unscoped, workspace, null],
    ['an address outside the allowlist', requests, fromOutside, workspace, 'ip-not-allowed'],
    ['subscription before plan', requests, unscoped, { ...lapsed, planId: 'starter' }, 'subscription-inactive'],
    ['plan before scope', requests, unscoped, { ...workspace, planId: 'starter' }, 'plan-upgrade-required'],
    ['scope before address', requests, { ...fromOutside, scopes: [] }, workspace, 'insufficient-scope'],
    [
      'a console read on a lapsed subscription',
      { surface: 'console', scope: null, write: false },
      session,
      lapsed,
      null,
    ],
    [
      'a console write on a lapsed subscription',
      { surface: 'console', scope: null, write: true },
      session,
      lapsed,
      'subscription-inactive',
    ],
    [
      'a console user on a plan without the API',
      { surface: 'console', scope: null, write: true },
      session,
      { ...workspace, planId: 'starter' },
      null,
    ],
    [
      'a console user of a vanished workspace',
      { surface: 'console', scope: null, write: true },
      session,
      null,
      'not-found',
    ],
    [
      'an admin where only an owner may',
      { surface: 'console', scope: null, write: true, ownerOnly: true },
      session,
      workspace,
      'forbidden',
    ],
    [
      'an owner where only an owner may',
      { surface: 'console', scope: null, write: true, ownerOnly: true },
      { ...session, seats: [seat(second, 'admin'), seat(agency, 'owner')] },
      workspace,
      null,
    ],
    [
      'an owner of another workspace',
      { surface: 'console', scope: null, write: true, ownerOnly: true },
      { ...session, seats: [seat(second, 'owner'), seat(agency, 'admin')] },
      workspace,
      'forbidden',
    ],
    [
      'a lapsed subscription before the role',
      { surface: 'console', scope: null, write: true, ownerOnly: true },
      session,
      lapsed,
      'subscription-inactive',
    ],
    [
      'a sandbox call into a workspace that is no sandbox',
      { surface: 'sandbox', scope: null, write: true },
      session,
      { ...workspace, sandbox: false },
      'not-found',
    ],
    ['a portal read on a lapsed subscription', { surface: 'portal', scope: null, write: false }, ofOne, lapsed, null],
    [
      'a portal write on a lapsed subscription',
      { surface: 'portal', scope: null, write: true },
      ofOne,
      lapsed,
      'subscription-inactive',
    ],
    [
      'the portal of a vanished workspace',
      { surface: 'portal', scope: null, write: false },
      ofOne,
      null,
      'publisher-not-found',
    ],
    ['a sandbox call into a lapsed workspace', { surface: 'sandbox', scope: null, write: true }, session, lapsed, null],
  ]
  test.each(rows)('%s', (_name, requirement, held, standing, outcome) => {
    expect(named(authorize(requirement, held, standing, presented))).toEqual(outcome)
  })

  test('details name the missing scope, feature or role', () => {
    expect(authorize({ ...requests, scope: 'pings:read' }, key, workspace, presented)?.details).toEqual({
      required: ['pings:read'],
      held: ['calls:read', 'blocklist:write'],
    })
    expect(authorize(requests, key, { ...workspace, planId: 'starter' }, presented)?.details).toEqual({
      feature: 'apiAccess',
    })
    expect(authorize(requests, key, lapsed, presented)?.details).toEqual({
      status: 'past_due',
      planId: 'scale',
      agencyId: agency,
    })
  })
})

test('a publisher is told nothing of the subscription of the workspace', () => {
  const write = { surface: 'portal', scope: null, write: true } as const
  const lapsed = { ...workspace, subscriptionStatus: 'past_due' } as const
  expect(authorize(write, ofOne, lapsed, presented)).toMatchObject({ refused: 'subscription-inactive', details: null })
})

describe('address allowlist', () => {
  const rows: readonly [readonly string[], string, boolean][] = [
    [[], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.10', false],
    [['203.0.113.9'], '::ffff:203.0.113.9', true],
    [['::ffff:203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.0/25'], '203.0.113.127', true],
    [['203.0.113.0/25'], '203.0.113.128', false],
    [['0.0.0.0/0'], '198.51.100.1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['2001:db8::1'], '2001:0db8:0:0:0:0:0:1', true],
    [['2001:db8::1'], '2001:db8::2', false],
    [['203.0.113.9'], 'nonsense', false],
    [['203.0.113.9'], '::203.0.113.9', false],
    [['203.0.113.8'], '203.0.113.010', false],
    [['fe80::1'], 'fe80::1%eth0', false],
  ]
  test.each(rows)('%j lets %s in: %s', (entries, ip, outcome) => {
    expect(isAddressAllowed(entries, ip)).toBe(outcome)
  })

  const spellings: readonly [string, boolean][] = [
    ['203.0.113.9', true],
    ['203.0.113.0/24', true],
    ['2001:db8::1', true],
    ['2001:db8::/32', false],
    ['203.0.113.0/33', false],
    ['203.0.113.0/', false],
    ['203.0.113.0/24/1', false],
    ['203.0.113', false],
    ['203.0.113.09', false],
    ['203.0.113.0/08', false],
    ['0xcb.0.113.9', false],
    ['fe80::1%eth0', false],
    ['example.com', false],
    ['', false],
  ]
  test.each(spellings)('entry %s is taken: %s', (entry, outcome) => {
    expect(allowlistEntry.safeParse(entry).success).toBe(outcome)
  })
})

test('a stored key parses as a credential', () => {
  expect(keyCredential.parse(key)).toEqual(key)
  expect(actorOf(key)).toEqual({ type: 'key', id: key.keyId, name: 'Reports' })
  expect(actorOf(session)).toEqual({ type: 'user', id: session.userId, name: 'Ann' })
})

test('each plan includes the features of the plan below it', () => {
  const tiers = [plans.starter, plans.growth, plans.scale]
  const open = tiers.map(({ features }) => Object.values(features).filter(Boolean).length)
  expect(open).toEqual([1, 3, 4])
  expect(tiers.map(({ usageRateCents }) => usageRateCents)).toEqual([5, 4, 3])
  expect(Object.values(plans.scale.ceilings)).toEqual(Array(7).fill(null))
})
