import { describe, expect, it } from 'vitest'
import { removeRoute } from '../../../commands/campaigns/remove-route.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { recordTargetTest } from '../../../commands/demand/record-target-test.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { targetKindOf } from '../../../src/domain/demand/target.ts'
import { given, idOf, mintedId, NOW, stateOf } from '../../support/fixtures/spec.ts'
import { storeUncheckedRtb } from '../../support/fixtures/store-target.ts'
import {
  buyerIn,
  campaignIn,
  emptyWorkspace,
  targetIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const owned = emptyWorkspace('scale', [createBuyer, () => ({ name: 'Solar Co' })])
const buyerId = buyerIn(owned)
const create = (sent: object) => given(workspace, owned).when(createTarget, { name: 'Desk', buyerId, ...sent })

describe('create-target', () => {
  it('adds a draft with every default', () => {
    create({ type: 'number', endpoint: { destinationE164: '+14155550111' } }).gives([
      {
        type: 'TargetCreated',
        data: {
          buyerName: 'Solar Co',
          target: {
            status: 'draft',
            revenueCents: 0,
            capCountsOn: 'connected',
            timezone: 'America/New_York',
            endpoint: { mode: 'pstn', destinationE164: '+14155550111', ringTimeoutSeconds: null, whisper: null },
            rtb: null,
          },
        },
      },
    ])
  })

  it('derives the kind from type and price', () => {
    expect(targetKindOf({ type: 'number', revenueCents: 1 })).toBe('static')
    expect(targetKindOf({ type: 'sip', revenueCents: 0 })).toBe('delivery')
    expect(targetKindOf({ type: 'rtb', revenueCents: null })).toBe('external_rtb')
  })

  it.each([
    ['a price on a bidder', { type: 'rtb', revenueCents: 5 }, 'revenueCents'],
    ['dialling on a bidder', { type: 'rtb', endpoint: { destinationE164: '+14155550111' } }, 'endpoint'],
    ['bidding on a number', { type: 'number', rtb: { bidUrl: 'https://bid.example/a' } }, 'rtb'],
    ['a sip address on a number', { type: 'number', endpoint: { sipUri: 'sip:a@b.example' } }, 'endpoint.sipUri'],
    [
      'a fixed caller id without the number',
      { type: 'sip', endpoint: { callerIdMode: 'fixed' } },
      'endpoint.callerIdE164',
    ],
    ['a filter without a text', { type: 'sip', tagFilters: [{ key: 'a', op: 'eq' }] }, 'tagFilters.0.value'],
    [
      'a filter without a list',
      { type: 'sip', tagFilters: [{ key: 'a', op: 'in', value: 'b' }] },
      'tagFilters.0.value',
    ],
    [
      'a filter with a value too many',
      { type: 'sip', tagFilters: [{ key: 'a', op: 'exists', value: 'b' }] },
      'tagFilters.0.value',
    ],
    ['a path that is none', { type: 'rtb', rtb: { bidPath: '$.a[' } }, 'rtb.bidPath'],
    ['a path to several values', { type: 'rtb', rtb: { expiresPath: '$[0,0]' } }, 'rtb.expiresPath'],
    ['a header of the platform', { type: 'rtb', rtb: { bidHeaders: { Host: 'b' } } }, 'rtb.bidHeaders.Host'],
    [
      'a destination that is no number',
      { type: 'rtb', rtb: { destination: { type: 'number', value: 'sip:a@b.example' } } },
      'rtb.destination.value',
    ],
    [
      'a destination that is no sip address',
      { type: 'rtb', rtb: { destination: { type: 'sip', value: '+14155550111' } } },
      'rtb.destination.value',
    ],
    ['a bid floor above the ceiling', { type: 'rtb', rtb: { minBidCents: 2, maxBidCents: 1 } }, 'rtb.minBidCents'],
    ['a zone that does not exist', { type: 'sip', timezone: 'Nowhere/Else' }, 'timezone'],
    ['a state code of three letters', { type: 'sip', states: ['CAL'] }, 'states'],
    ['a schedule that never opens', { type: 'sip', hoursSchedule: { tz: 'UTC', days: { mon: [] } } }, 'hoursSchedule'],
  ])('refuses %s', (_what, sent, field) => {
    create(sent).gives({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it('keeps states in upper case, once each, and a schedule in the target’s zone', () => {
    const days = { mon: [['09:00', '17:00']] }
    create({ type: 'sip', states: ['ca', 'CA', 'ny'], hoursSchedule: { days }, timezone: 'America/Denver' }).gives([
      {
        type: 'TargetCreated',
        data: { target: { states: ['CA', 'NY'], hoursSchedule: { tz: 'America/Denver', days: { ...days, sun: [] } } } },
      },
    ])
  })

  it('refuses an unknown and an archived buyer', () => {
    create({ type: 'sip', buyerId: idOf(7) }).gives({ refused: 'buyer-not-found' })
    const { events } = given(workspace, owned).when(setBuyerStatus, { buyerId, status: 'archived' })
    given(workspace, events).when(createTarget, { name: 'Desk', buyerId, type: 'sip' }).gives({ refused: 'conflict' })
  })

  it('has the id that its settings were sealed for, unless another target has it', () => {
    const input = { name: 'Desk', buyerId, type: 'sip', targetId: idOf(77) }
    const made = given(workspace, owned).when(createTarget, input)
    made.gives([{ type: 'TargetCreated', data: { target: { id: idOf(77) } } }])
    given(workspace, made.events).when(createTarget, input).gives({ refused: 'conflict' })
  })
})

describe('change-target', () => {
  const events = workspaceFixture()
  const targetId = targetIn(events)

  it('merges dialling, and records before and after', () => {
    const { state, outcome } = given(workspace, events).when(changeTarget, {
      targetId,
      changes: { dailyCap: 3, endpoint: { ringTimeoutSeconds: 40 } },
    })
    expect(outcome).toMatchObject([{ data: { before: { dailyCap: 0 }, after: { dailyCap: 3 } } }])
    expect(state.targets.get(targetId)?.endpoint).toMatchObject({
      ringTimeoutSeconds: 40,
      destinationE164: '+14155550111',
    })
  })

  it('writes nothing when nothing differs, and clears states and hours with null', () => {
    given(workspace, events)
      .when(changeTarget, { targetId, changes: { revenueCents: 4_000 } })
      .gives([])
    const closed = given(workspace, events).when(changeTarget, { targetId, changes: { states: ['CA'] } }).events
    given(workspace, closed)
      .when(changeTarget, { targetId, changes: { states: null, hoursSchedule: null } })
      .gives([{ type: 'TargetChanged', data: { after: { states: [] } } }])
  })

  it('changes what else there is beside a stored path that is refused now, and replaces the path', () => {
    const bidder = create({ type: 'rtb' }).events
    const bidderId = targetIn(bidder)
    const rtb = { bidPath: '$[0,0][0,0]', acceptPath: '$..ok' }
    const stored = given(workspace, bidder).when(storeUncheckedRtb, { targetId: bidderId, rtb }).events
    const change = (changes: object) => given(workspace, stored).when(changeTarget, { targetId: bidderId, changes })
    change({ dailyCap: 3 }).gives([{ type: 'TargetChanged', data: { after: { dailyCap: 3 } } }])
    change({ rtb: { timeoutMs: 900 } }).gives([
      { type: 'TargetChanged', data: { after: { rtb: { ...rtb, timeoutMs: 900 } } } },
    ])
    change({ rtb: { bidPath: '$[0][0]', acceptPath: null } }).gives([{ type: 'TargetChanged' }])
    change({ rtb }).gives({
      refused: 'bad-request',
      details: { 'rtb.bidPath': expect.any(String), 'rtb.acceptPath': expect.any(String) },
    })
  })

  it('moves to another buyer, whose caps hold from then on', () => {
    const two = workspaceFixture([createBuyer, () => ({ name: 'Other' })])
    const other = buyerIn(two, 1)
    const { outcome, state } = given(workspace, two).when(changeTarget, { targetId, changes: { buyerId: other } })
    expect(outcome).toMatchObject([{ data: { before: { buyerId: buyerIn(two) }, after: { buyerId: other } } }])
    expect(state.targets.get(targetId)?.buyerId).toBe(other)
  })

  it('refuses an unknown buyer before checking the status, and an archived one after', () => {
    const gone = { buyerId: idOf(7) }
    const shelved = given(workspace, events).when(setTargetStatus, { targetId, status: 'archived' }).events
    given(workspace, shelved).when(changeTarget, { targetId, changes: gone }).gives({ refused: 'buyer-not-found' })
    const two = workspaceFixture([createBuyer, () => ({ name: 'Other' })])
    const closed = given(workspace, two).when(setBuyerStatus, { buyerId: buyerIn(two, 1), status: 'archived' }).events
    given(workspace, closed)
      .when(changeTarget, { targetId, changes: { buyerId: buyerIn(two, 1) } })
      .gives({ refused: 'conflict' })
  })

  it('can lose its destination while active, and is not resumed without one', () => {
    const emptied = given(workspace, events).when(changeTarget, {
      targetId,
      changes: { endpoint: { destinationE164: null } },
    })
    emptied.gives([{ type: 'TargetChanged' }])
    const paused = given(workspace, emptied.events).when(setTargetStatus, { targetId, status: 'paused' })
    given(workspace, paused.events)
      .when(setTargetStatus, { targetId, status: 'active' })
      .gives({ refused: 'conflict', details: { destination: expect.any(String) } })
  })

  it('refuses an empty change, an unknown target and an archived one', () => {
    given(workspace, events).when(changeTarget, { targetId, changes: {} }).gives({ refused: 'bad-request' })
    const changes = { dailyCap: 1 }
    given(workspace, events)
      .when(changeTarget, { targetId: idOf(9), changes })
      .gives({ refused: 'target-not-found' })
    const archived = given(workspace, events).when(setTargetStatus, { targetId, status: 'archived' }).events
    given(workspace, archived).when(changeTarget, { targetId, changes }).gives({ refused: 'conflict' })
  })
})

describe('set-target-status', () => {
  const events = workspaceFixture()
  const targetId = targetIn(events)

  it('keeps a paused target on its routing plans', () => {
    const { state } = given(workspace, events).when(setTargetStatus, { targetId, status: 'paused' })
    expect(state.routes.get(campaignIn(events))?.has(targetId)).toBe(true)
    expect(state.targets.get(targetId)?.status).toBe('paused')
  })

  it('removes an archived target from every routing plan', () => {
    const { outcome, state } = given(workspace, events).when(setTargetStatus, { targetId, status: 'archived' })
    expect(outcome).toMatchObject([{ data: { removedFrom: [campaignIn(events)] } }])
    expect(state.routes.get(campaignIn(events))?.size).toBe(0)
  })

  it('refuses activation without a destination', () => {
    const drafted = create({ type: 'number' })
    const id = targetIn(drafted.events)
    given(workspace, drafted.events)
      .when(setTargetStatus, { targetId: id, status: 'active' })
      .gives({ refused: 'conflict', details: { destination: expect.any(String) } })
  })

  it('lets a key pause and resume, and nothing else', () => {
    const by = 'key'
    const paused = given(workspace, events).when(setTargetStatus, { targetId, status: 'paused', by })
    paused.gives([{ type: 'TargetStatusChanged', data: { to: 'paused', removedFrom: [] } }])
    given(workspace, paused.events)
      .when(setTargetStatus, { targetId, status: 'active', by })
      .gives([{ type: 'TargetStatusChanged' }])
    given(workspace, paused.events).when(setTargetStatus, { targetId, status: 'paused', by }).gives([])
    given(workspace, events)
      .when(setTargetStatus, { targetId, status: 'archived', by })
      .gives({ refused: 'conflict', details: { status: 'active', allowed: ['paused'] } })
    const drafted = create({ type: 'number', endpoint: { destinationE164: '+14155550112' } })
    given(workspace, drafted.events)
      .when(setTargetStatus, { targetId: targetIn(drafted.events), status: 'active', by })
      .gives({ refused: 'conflict', details: { status: 'draft', allowed: [] } })
  })

  it('refuses a transition that is not allowed, and names the allowed ones', () => {
    const drafted = create({ type: 'number' })
    given(workspace, drafted.events)
      .when(setTargetStatus, { targetId: targetIn(drafted.events), status: 'paused' })
      .gives({ refused: 'conflict', details: { status: 'draft', allowed: ['active', 'archived'] } })
  })
})

describe('record-target-test', () => {
  const events = workspaceFixture()
  const test = { targetId: targetIn(events), occurredAt: NOW, ok: true, result: 'answered', latencyMs: 3_000 }

  it('records when the endpoint was tested, without changing the target', () => {
    const tested = given(workspace, events).when(recordTargetTest, test)
    tested.gives([{ type: 'TargetTested', data: { ...test, name: 'Front desk' } }])
    const [before, after] = [stateOf(workspace, events), tested.state]
    expect(after.targets.get(test.targetId)?.endpoint?.lastHealthCheckAt).toBe(NOW)
    expect(after.targets.get(test.targetId)?.updatedAt).toBe(before.targets.get(test.targetId)?.updatedAt)
    expect(after.revisions.get(test.targetId)).toBe(before.revisions.get(test.targetId))
  })

  it('refuses an unknown target', () => {
    given(workspace, events)
      .when(recordTargetTest, { ...test, targetId: idOf(9) })
      .gives({ refused: 'target-not-found' })
  })
})

describe('set-route and remove-route', () => {
  const events = workspaceFixture()
  const place = { campaignId: campaignIn(events), targetId: targetIn(events) }

  it('changes the requested fields and keeps the others', () => {
    given(workspace, events)
      .when(setRoute, { ...place, settings: { priority: 5 } })
      .gives([{ type: 'RouteSet', data: { route: { priority: 5, weight: 100 }, before: { priority: 100 } } }])
    given(workspace, events)
      .when(setRoute, { ...place, settings: { active: true } })
      .gives([])
  })

  it('creates a route with defaults', () => {
    const removed = given(workspace, events).when(removeRoute, place)
    removed.gives([{ type: 'RouteRemoved', data: { targetName: 'Front desk' } }])
    given(workspace, removed.events)
      .when(setRoute, { ...place, settings: {} })
      .gives([
        {
          type: 'RouteSet',
          data: { before: null, route: { id: mintedId(0), priority: 100, weight: 100, active: true, createdAt: NOW } },
        },
      ])
    given(workspace, removed.events).when(removeRoute, place).gives({ refused: 'route-not-found' })
  })

  it('refuses an archived target', () => {
    const archived = given(workspace, events).when(setTargetStatus, { targetId: place.targetId, status: 'archived' })
    given(workspace, archived.events)
      .when(setRoute, { ...place, settings: {} })
      .gives({ refused: 'conflict' })
  })
})
