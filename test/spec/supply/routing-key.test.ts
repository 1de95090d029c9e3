import { describe, expect, it } from 'vitest'
import { changeRoutingKey } from '../../../commands/supply/change-routing-key.ts'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { rotateCompatToken } from '../../../commands/supply/rotate-compat-token.ts'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { rotateSigningSecret } from '../../../commands/supply/rotate-signing-secret.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { switchCompat } from '../../../commands/supply/switch-compat.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import { keyStateAt, routingKeyGraceEnd } from '../../../src/domain/supply/routing-key.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import { campaignIn, hashOf, idIn, publisherIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture()
const [campaignId, publisherId] = [campaignIn(events), publisherIn(events)]
const keyId = idIn(events, 'LaneOpened', 'key')
const lane = { campaignId, publisherId }
const stored = (secret: string) => ({ prefix: secret, hash: hashOf(secret) })
const token = (secret: string) => ({ hash: hashOf(secret), sealed: `sealed ${secret}` })

/** The events after a command, which must be taken. */
function after(command: AnyCommand, input: unknown, from: readonly NewEvent[] = events, at = NOW) {
  const taken = given(workspace, from).when(command, input, { at })
  expect(taken.outcome).toBeInstanceOf(Array)
  return { ...taken, key: taken.state.routingKeys.get(keyId) }
}
const rotated = (secret: string, graceMinutes: number | undefined, from = events, at = NOW) =>
  after(rotateRoutingKey, { keyId, graceMinutes, key: stored(secret) }, from, at)

const enabled = after(switchCompat, { ...lane, enabled: true, token: token('one') })
const closed = after(closeLane, lane, enabled.events)
const ended = after(setPublisherStatus, { publisherId, status: 'terminated' }, enabled.events)

describe('change-routing-key', () => {
  it('has the documented rates at first, and changes each separately', () => {
    const key = after(changeRoutingKey, { keyId, changes: { label: 'Main' } }).key
    expect(key).toMatchObject({ label: 'Main', ratePerMinute: 120, ratePerHour: 5_000, ratePerDay: 50_000 })
    const { outcome } = after(changeRoutingKey, { keyId, changes: { ratePerMinute: 10, environment: 'test' } })
    expect(outcome).toMatchObject([
      {
        type: 'RoutingKeyChanged',
        data: {
          ...lane,
          keyId,
          campaignName: 'Solar West',
          publisherName: 'Blue Leads',
          before: { ratePerMinute: 120, environment: 'production' },
          after: { ratePerMinute: 10, environment: 'test' },
        },
      },
    ])
  })

  it('writes nothing when nothing differs, and refuses an empty change and an unknown key', () => {
    const when = (changes: object, id = keyId) =>
      given(workspace, events).when(changeRoutingKey, { keyId: id, changes })
    when({ requireSignature: false }).gives([])
    when({}).gives({ refused: 'bad-request' })
    when({ label: 'x' }, idOf(9)).gives({ refused: 'routing-key-not-found' })
  })
})

describe('rotate-routing-key', () => {
  it('accepts the previous secret for an hour by default, and is rotating until then', () => {
    const { key } = rotated('two', undefined)
    expect(key?.secrets).toEqual([
      { hash: hashOf('two'), expiresAt: null },
      { hash: hashOf('routing key'), expiresAt: '2026-03-10T16:00:00.000Z' },
    ])
    const at = (now: string) => key && keyStateAt(key, now)
    expect(at(NOW)).toBe('rotating')
    expect(at('2026-03-10T15:59:59.999Z')).toBe('rotating')
    expect(at('2026-03-10T16:00:00.000Z')).toBe('active')
    expect(key && routingKeyGraceEnd(key, '2026-03-10T16:00:00.000Z')).toBeNull()
  })

  it('stops the previous secret at once without a grace', () => {
    const { key, outcome } = rotated('two', 0)
    expect(outcome).toMatchObject([{ data: { prefix: 'two', graceEndsAt: null } }])
    expect(key?.secrets).toEqual([{ hash: hashOf('two'), expiresAt: null }])
    expect(key && keyStateAt(key, NOW)).toBe('active')
  })

  it('ends a running grace when it is rotated again', () => {
    const { key } = rotated('three', 5, rotated('two', 10_080).events)
    expect(key?.secrets.map(({ hash }) => hash)).toEqual([hashOf('three'), hashOf('two')])
  })
})

describe('the single-step ping', () => {
  it('changes the protocol when switched on, and removes the token when switched off', () => {
    expect(enabled.key).toMatchObject({ protocol: 'rtb_v1_compat', compat: token('one') })
    const off = after(switchCompat, { ...lane, enabled: false, token: token('two') }, enabled.events)
    expect(off.outcome).toEqual([
      { type: 'CompatDisabled', data: expect.not.objectContaining({ token: expect.anything() }) },
    ])
    expect(off.key).toMatchObject({ protocol: 'rtb_v1_compat', compat: null })
    const again = after(switchCompat, { ...lane, enabled: true, token: token('three') }, off.events)
    expect(again.key?.compat).toEqual(token('three'))
  })

  it('keeps its token when the switch does not change', () => {
    given(workspace, enabled.events)
      .when(switchCompat, { ...lane, enabled: true, token: token('two') })
      .gives([])
    given(workspace, events)
      .when(switchCompat, { ...lane, enabled: false, token: token('two') })
      .gives([])
  })

  it('gets a new token, but none while it is off', () => {
    const next = after(rotateCompatToken, { keyId, token: token('two') }, enabled.events)
    expect(next.key?.compat).toEqual(token('two'))
    given(workspace, events)
      .when(rotateCompatToken, { keyId, token: token('two') })
      .gives({ refused: 'conflict', details: { compat: { enabled: false } } })
  })

  it('requires a lane', () => {
    given(workspace, events)
      .when(switchCompat, { campaignId, publisherId: idOf(9), enabled: true, token: token('x') })
      .gives({ refused: 'lane-not-found' })
  })
})

describe('rotate-signing-secret', () => {
  it('stores only the newest secret', () => {
    const first = after(rotateSigningSecret, { keyId, sealed: 'one' })
    expect(first.key?.signing).toBe('one')
    expect(after(rotateSigningSecret, { keyId, sealed: 'two' }, first.events).key?.signing).toBe('two')
  })
})

describe.each([
  ['closing its lane', closed],
  ['terminating its publisher', ended],
])('a key that is revoked by %s', (_how, { events: from, key, state }) => {
  it('has no secret and no single-step ping', () => {
    expect(key).toMatchObject({ secrets: [], compat: null, revokedAt: NOW })
    expect(key && keyStateAt(key, NOW)).toBe('revoked')
  })

  it.each<readonly [AnyCommand, object]>([
    [changeRoutingKey, { changes: { label: 'x' } }],
    [rotateRoutingKey, { key: stored('x') }],
    [rotateCompatToken, { token: token('x') }],
    [rotateSigningSecret, { sealed: 'x' }],
  ])('does not change: %o', (command, input) => {
    given(workspace, from)
      .when(command, { keyId, ...input })
      .gives({ refused: 'conflict', details: { status: 'revoked' } })
  })

  it('is refused a single-step ping', () => {
    const refused = state.lanes.has(laneId(campaignId, publisherId)) ? 'conflict' : 'lane-not-found'
    given(workspace, from)
      .when(switchCompat, { ...lane, enabled: true, token: token('x') })
      .gives({ refused })
  })
})
