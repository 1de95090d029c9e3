import { describe, expect, it } from 'vitest'
import { changeApiKey } from '../../../commands/access/change-api-key.ts'
import { createApiKey } from '../../../commands/access/create-api-key.ts'
import { revokeApiKey } from '../../../commands/access/revoke-api-key.ts'
import { rotateApiKey } from '../../../commands/access/rotate-api-key.ts'
import { apiKeys } from '../../../projections/access/api-keys.ts'
import { credentials } from '../../../projections/access/credentials.ts'
import { apiKeyStatusAt, hashesOf } from '../../../src/domain/access/api-key.ts'
import { hasScope, scopes } from '../../../src/domain/access/scopes.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { API_KEY } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, idOf, mintedId, NOW, recordedEvents } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, hashOf, idIn, type SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const issued = (secret: string) => ({ prefix: 'svc_live_abc', hash: hashOf(secret) })
const named = (name: string, more: object = {}): SetupStep => [
  createApiKey,
  () => ({ name, scopes: ['calls:read'], ...issued(name), ...more }),
]
const HOUR = 3_600_000
const after = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString()
const keyIn = (events: readonly NewEvent[]) => idIn(events, 'ApiKeyCreated', 'apiKey')
const secretsIn = ({ state }: { readonly state: typeof workspace.initial }) => [...state.apiKeys.values()][0]?.secrets

const one = emptyWorkspace('scale', named('first'))
const apiKeyId = keyIn(one)
const rotated = (events: readonly NewEvent[], secret: string, more: object = {}, at = NOW) =>
  given(workspace, events).when(rotateApiKey, { apiKeyId, ...issued(secret), ...more }, { at })

describe('create-api-key', () => {
  it('stores only the hash, each scope once, and the default rate', () => {
    given(workspace, emptyWorkspace())
      .when(createApiKey, { name: '  Ops ', scopes: ['calls:read', 'pings:read', 'calls:read'], ...issued('s') })
      .gives([
        {
          type: 'ApiKeyCreated',
          data: {
            apiKey: {
              id: mintedId(0),
              name: 'Ops',
              scopes: ['calls:read', 'pings:read'],
              ipAllowlist: [],
              rateLimitPerMinute: 120,
              prefix: 'svc_live_abc',
              status: 'active',
              secrets: [{ hash: hashOf('s'), expiresAt: null }],
              createdAt: NOW,
            },
          },
        },
      ])
  })

  it('refuses one more than the plan allows; a revoked key does not count', () => {
    given(workspace, emptyWorkspace('starter'))
      .when(createApiKey, { name: 'Ops', scopes: [], ...issued('s') })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxApiKeys', limit: 0, current: 0 } })
    const twenty = emptyWorkspace('growth', ...Array.from({ length: 20 }, (_, n) => named(`key ${n}`)))
    const more = { name: 'Ops', scopes: [], ...issued('s') }
    given(workspace, twenty.slice(0, 20))
      .when(createApiKey, more)
      .gives([{ type: 'ApiKeyCreated' }])
    given(workspace, twenty)
      .when(createApiKey, more)
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxApiKeys', limit: 20, current: 20 } })
    const { events } = given(workspace, twenty).when(revokeApiKey, { apiKeyId: keyIn(twenty) })
    given(workspace, events)
      .when(createApiKey, more)
      .gives([{ type: 'ApiKeyCreated' }])
  })

  it('accepts at most twenty known scopes, and bounds name, rate and allowlist', () => {
    const accepts = (more: object) =>
      createApiKey.input.safeParse({ name: 'Ops', scopes: [], ...issued('s'), ...more }).success
    const many = (length: number) => Array.from({ length }, () => 'calls:read')
    expect([accepts({ scopes: many(20) }), accepts({ scopes: many(21) })]).toEqual([true, false])
    expect([accepts({ scopes: ['blocklist:write'] }), accepts({ scopes: ['blocklist:read'] })]).toEqual([true, false])
    expect([accepts({ name: 'n'.repeat(120) }), accepts({ name: 'n'.repeat(121) }), accepts({ name: ' ' })]).toEqual([
      true,
      false,
      false,
    ])
    expect([0, 1, 1_200, 1_201, 1.5, '120'].map((rateLimitPerMinute) => accepts({ rateLimitPerMinute }))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ])
    const addresses = (length: number) => Array.from({ length }, (_, n) => `10.0.0.${n}`)
    expect([accepts({ ipAllowlist: addresses(50) }), accepts({ ipAllowlist: addresses(51) })]).toEqual([true, false])
  })

  it('has no scope over the length limit, and includes the read scope of a write scope', () => {
    expect(scopes.filter((scope) => scope.length > API_KEY.scope)).toEqual([])
    expect(hasScope(['blocklist:write'], 'blocklist:read')).toBe(true)
    expect(hasScope(['calls:write'], 'calls:read')).toBe(false)
  })
})

describe('change-api-key', () => {
  it('records the changes with the hashes of the key’s secrets', () => {
    given(workspace, one)
      .when(changeApiKey, { apiKeyId, changes: { name: 'Ops', scopes: ['calls:read', 'calls:read'] } })
      .gives([
        {
          type: 'ApiKeyChanged',
          data: { name: 'first', hashes: [hashOf('first')], before: { name: 'first' }, after: { name: 'Ops' } },
        },
      ])
    given(workspace, one)
      .when(changeApiKey, { apiKeyId, changes: { name: 'first' } })
      .gives([])
  })

  it('refuses an empty change, an unknown key and a revoked one', () => {
    const changes = { name: 'Ops' }
    const { events } = given(workspace, one).when(revokeApiKey, { apiKeyId })
    given(workspace, one).when(changeApiKey, { apiKeyId, changes: {} }).gives({ refused: 'bad-request' })
    given(workspace, one)
      .when(changeApiKey, { apiKeyId: idOf(9), changes })
      .gives({ refused: 'api-key-not-found' })
    given(workspace, events)
      .when(changeApiKey, { apiKeyId, changes })
      .gives({ refused: 'conflict', details: { status: 'revoked' } })
  })
})

describe('rotate-api-key', () => {
  it('lets the current secret work for a day, or for the requested grace', () => {
    const usual = rotated(one, 'second')
    usual.gives([
      { type: 'ApiKeyRotated', data: { before: { prefix: expect.any(String) }, ended: [], graceMinutes: 1_440 } },
    ])
    expect(secretsIn(usual)).toEqual([
      { hash: hashOf('first'), expiresAt: after(24 * HOUR) },
      { hash: hashOf('second'), expiresAt: null },
    ])
    expect(secretsIn(rotated(one, 'second', { graceMinutes: 10_080 }))?.[0]?.expiresAt).toBe(after(7 * 24 * HOUR))
  })

  it('ends the current secret at once without a grace', () => {
    const { state, outcome } = rotated(one, 'second', { graceMinutes: 0 })
    expect(outcome).toMatchObject([{ data: { ended: [hashOf('first')] } }])
    expect(secretsIn({ state })).toEqual([{ hash: hashOf('second'), expiresAt: null }])
  })

  it('ends the oldest secret at once when the key is rotated during a grace', () => {
    const { events } = rotated(one, 'second')
    const again = rotated(events, 'third', { graceMinutes: 60 }, after(HOUR))
    again.gives([{ type: 'ApiKeyRotated', data: { ended: [hashOf('first')] } }])
    expect(secretsIn(again)).toEqual([
      { hash: hashOf('second'), expiresAt: after(2 * HOUR) },
      { hash: hashOf('third'), expiresAt: null },
    ])
  })

  it('bounds the grace on both sides', () => {
    const accepts = (graceMinutes: unknown) =>
      rotateApiKey.input.safeParse({ apiKeyId, ...issued('s'), graceMinutes }).success
    expect([-1, 0, 10_080, 10_081, 1.5, '60', null].map(accepts)).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })

  it('refuses an unknown key and a revoked one', () => {
    const { events } = given(workspace, one).when(revokeApiKey, { apiKeyId })
    rotated(one, 'second', { apiKeyId: idOf(9) }).gives({ refused: 'api-key-not-found' })
    rotated(events, 'second').gives({ refused: 'conflict', details: { status: 'revoked' } })
  })
})

describe('revoke-api-key', () => {
  it('ends all secrets, once', () => {
    const { events } = rotated(one, 'second')
    const revoked = given(workspace, events).when(revokeApiKey, { apiKeyId })
    revoked.gives([{ type: 'ApiKeyRevoked', data: { hashes: [hashOf('first'), hashOf('second')] } }])
    expect(revoked.state.apiKeys.get(apiKeyId)).toMatchObject({ status: 'revoked', secrets: [] })
    given(workspace, revoked.events).when(revokeApiKey, { apiKeyId }).gives([])
    given(workspace, one)
      .when(revokeApiKey, { apiKeyId: idOf(9) })
      .gives({ refused: 'api-key-not-found' })
  })
})

describe('the status of a key', () => {
  const end = after(HOUR)

  it('is rotating until the end of the grace, and active from then on', () => {
    const inGrace = { status: 'active', revokesAt: end } as const
    expect(apiKeyStatusAt(inGrace, after(HOUR - 1))).toEqual({ status: 'rotating', revokesAt: end })
    expect(apiKeyStatusAt(inGrace, end)).toEqual({ status: 'active', revokesAt: null })
    expect(apiKeyStatusAt({ status: 'active', revokesAt: null }, NOW)).toEqual({ status: 'active', revokesAt: null })
    expect(apiKeyStatusAt({ status: 'revoked', revokesAt: NOW }, end)).toEqual({ status: 'revoked', revokesAt: NOW })
  })
})

describe('the look-up of credentials', () => {
  const documents = (events: readonly NewEvent[]) => project(credentials, recordedEvents(workspace, events))

  it('follows a key through changes and rotations, by each of its secrets', async () => {
    const changed = given(workspace, one).when(changeApiKey, { apiKeyId, changes: { rateLimitPerMinute: 7 } })
    const { events } = rotated(changed.events, 'second')
    const both = await documents(events)
    expect(Object.keys(both).sort()).toEqual([hashOf('first'), hashOf('second')].sort())
    for (const doc of Object.values(both)) expect(doc).toMatchObject({ keyId: apiKeyId, rateLimitPerMinute: 7 })
    const later = given(workspace, events).when(changeApiKey, { apiKeyId, changes: { scopes: [] } })
    for (const doc of Object.values(await documents(later.events))) expect(doc).toMatchObject({ scopes: [] })
    expect(Object.keys(await documents(rotated(later.events, 'third').events)).sort()).toEqual(
      [hashOf('second'), hashOf('third')].sort(),
    )
    const now = rotated(later.events, 'third', { graceMinutes: 0 })
    expect(Object.keys(await documents(now.events))).toEqual([hashOf('third')])
    expect(hashesOf({ secrets: secretsIn(now) ?? [] })).toEqual([hashOf('third')])
  })

  it('has no secrets of a revoked key', async () => {
    const { events } = given(workspace, rotated(one, 'second').events).when(revokeApiKey, { apiKeyId })
    expect(await documents(events)).toEqual({})
    const [shown] = Object.values(await project(apiKeys, recordedEvents(workspace, events)))
    expect(shown).toMatchObject({ status: 'revoked', name: 'first', createdBy: expect.any(Object) })
    expect(JSON.stringify(shown)).not.toMatch(/[0-9a-f]{64}/)
  })
})
