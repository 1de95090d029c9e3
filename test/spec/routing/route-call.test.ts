import { describe, expect, it } from 'vitest'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { callerKey, laneCallerKey, targetCallerKey } from '../../../src/domain/routing/callers.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import {
  anotherTarget,
  CALLER,
  callWorld,
  changeSteps,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { playCalls } from '../../support/fixtures/play-call.ts'
import { given, WORKSPACE } from '../../support/fixtures/spec.ts'
import { campaignIn, hashOf, idIn, numberIn, publisherIn } from '../../support/fixtures/workspace-fixture.ts'

const world = callWorld()

describe('route-call', () => {
  it('decides on a call once', () => {
    const first = routeArrival(world)
    routeArrival(world, {}, first.events).gives([])
    routeArrival(world, { occurredAt: instantAfter(30) }, first.events).gives([])
    const refusing = callWorld(changeSteps.campaign({ anonymousPolicy: 'block' }))
    const refused = routeArrival(refusing, { caller: null })
    routeArrival(refusing, { caller: null }, refused.events).gives([])
    routeArrival(refusing, {}, refused.events).gives([])
  })

  it('refuses a number that the workspace does not have', () => {
    routeArrival(world, { to: '+14155559999' }).gives({ refused: 'number-not-found' })
  })

  it('skips a target whose only slot another call holds', () => {
    const capped = callWorld(changeSteps.target({ dailyCap: 1 }), ...anotherTarget(1, {}, { priority: 200 }))
    const first = routeArrival(capped)
    first.gives([{ type: 'CallAdmitted', data: { claim: { target: { name: 'Front desk' } } } }])
    routeArrival(capped, { callId: nthCallId(2) }, first.events).gives([
      {
        type: 'CallAdmitted',
        data: {
          skipped: [{ reason: 'capped', figures: { window: 'daily', cap: 1, count: 1 } }],
          claim: { target: { name: 'Target 1' } },
        },
      },
    ])
  })

  it('checks and counts a call dated in the past in its own windows', () => {
    const capped = callWorld(changeSteps.target({ dailyCap: 1, hourlyCap: 1 }))
    const past = '2026-03-08T23:59:59.999Z'
    const first = routeArrival(capped)
    const second = routeArrival(capped, { callId: nthCallId(2), occurredAt: past }, first.events)
    second.gives([{ type: 'CallAdmitted', data: { claim: { occurredAt: past } } }])
    routeArrival(capped, { callId: nthCallId(3), occurredAt: past }, second.events).gives([
      { type: 'CallAdmitted', data: { claim: null, unrouted: { reason: 'no_eligible_target' } } },
    ])
    routeArrival(capped, { callId: nthCallId(4), occurredAt: '2026-03-09T00:00:00.000Z' }, second.events).gives([
      { type: 'CallAdmitted', data: { unrouted: null } },
    ])
  })
})

describe('a repeat caller', () => {
  const blocking = callWorld(changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 86_400 }))
  const key = `caller-memory/${callerKey(blocking.campaignId, CALLER)}`
  const remembered = (seconds: number) => ({
    [key]: { workspaceId: WORKSPACE, at: instantAfter(-seconds), targetId: null },
  })

  it('is recognized by the ledger that admitted it before', () => {
    const first = routeArrival(blocking)
    const repeat = { callId: nthCallId(2), occurredAt: instantAfter(60) }
    routeArrival(blocking, repeat, first.events).gives([
      { type: 'CallRefused', data: { unrouted: { reason: 'repeat_blocked' } } },
    ])
    routeArrival(blocking, { ...repeat, caller: '+14155550198' }, first.events).gives([{ type: 'CallAdmitted' }])
    routeArrival(blocking, { ...repeat, occurredAt: instantAfter(86_400) }, first.events).gives([
      { type: 'CallAdmitted' },
    ])
  })

  it('is looked up when the ledger has dropped it', () => {
    routeArrival(blocking, {}, [], remembered(86_399)).gives([{ type: 'CallRefused' }])
    routeArrival(blocking, {}, [], remembered(86_400)).gives([{ type: 'CallAdmitted' }])
  })

  it('is recognized by its latest admission, in any order of calls', () => {
    const first = routeArrival(blocking)
    const older = routeArrival(blocking, { callId: nthCallId(2), occurredAt: instantAfter(-200_000) }, first.events)
    older.gives([{ type: 'CallAdmitted' }])
    routeArrival(blocking, { callId: nthCallId(3), occurredAt: instantAfter(60) }, older.events).gives([
      { type: 'CallRefused' },
    ])
  })

  it('is not recognized by a refused call', () => {
    const first = routeArrival(blocking)
    const refused = routeArrival(blocking, { callId: nthCallId(2), occurredAt: instantAfter(86_399) }, first.events)
    refused.gives([{ type: 'CallRefused' }])
    routeArrival(blocking, { callId: nthCallId(3), occurredAt: instantAfter(86_400) }, refused.events).gives([
      { type: 'CallAdmitted' },
    ])
  })

  it('is not looked up when no rule depends on it', () => {
    routeArrival(callWorld(changeSteps.campaign({ dedupeWindowSeconds: 86_400 })), {}, [], remembered(1)).gives([
      { type: 'CallAdmitted' },
    ])
  })

  it('is recognized by the later sighting of ledger and projection', () => {
    const older = routeArrival(blocking, { callId: nthCallId(2), occurredAt: instantAfter(-200_000) })
    routeArrival(blocking, {}, older.events).gives([{ type: 'CallAdmitted' }])
    routeArrival(blocking, {}, older.events, remembered(60)).gives([{ type: 'CallRefused' }])
  })
})

describe('a duplicate caller of a target', () => {
  const ninetyDays = 7_776_000
  const windowed = callWorld(
    changeSteps.target({ dedupeWindowSeconds: ninetyDays }),
    ...anotherTarget(1, {}, { priority: 200 }),
  )
  const skipping = [
    {
      type: 'CallAdmitted',
      data: { skipped: [{ targetName: 'Front desk', reason: 'duplicate' }], claim: { target: { name: 'Target 1' } } },
    },
  ]
  const dialling = [{ type: 'CallAdmitted', data: { skipped: [], claim: { target: { name: 'Front desk' } } } }]
  const reached = (seconds: number) => ({
    [`caller-memory/${targetCallerKey(windowed.targetId(), CALLER)}`]: {
      workspaceId: WORKSPACE,
      at: instantAfter(-seconds),
      targetId: windowed.targetId(),
    },
  })

  it('is one that the target was connected to, on any campaign, from the answer to the end of the window', () => {
    const before = playCalls(windowed, { overAfter: 10 }).ledger
    const comes = (occurredAt: string, sent: object = {}) =>
      routeArrival(windowed, { callId: nthCallId(2), occurredAt, ...sent }, before)
    comes(instantAfter(3)).gives(skipping)
    comes(instantAfter(3 - 4 * 3_600 + 1)).gives(skipping)
    comes(instantAfter(3 - 4 * 3_600)).gives(dialling)
    comes(instantAfter(ninetyDays + 2)).gives(skipping)
    comes(instantAfter(ninetyDays + 3)).gives(dialling)
    comes(instantAfter(3), { caller: null }).gives(dialling)
    comes(instantAfter(3), { caller: '+14155550198' }).gives(dialling)
  })

  it('is not one whose call only rang', () => {
    const before = playCalls(windowed, { dials: [['busy', 2]], overAfter: null }).ledger
    routeArrival(windowed, { callId: nthCallId(2), occurredAt: instantAfter(60) }, before).gives(dialling)
  })

  it('is looked up when the ledger has dropped it', () => {
    routeArrival(windowed, {}, [], reached(ninetyDays - 1)).gives(skipping)
    routeArrival(windowed, {}, [], reached(ninetyDays)).gives(dialling)
    routeArrival(callWorld(...anotherTarget(1, {}, { priority: 200 })), {}, [], reached(1)).gives(dialling)
  })
})

describe('a duplicate caller of a lane', () => {
  const windowed = callWorld(changeSteps.lane({ dedupeWindowSeconds: 3_600 }))
  const withheld = (payoutWithheld: string | null) => [{ type: 'CallAdmitted', data: { terms: { payoutWithheld } } }]

  it('is one that the lane sent before and that was admitted: the publisher earns nothing from the call', () => {
    const first = routeArrival(windowed)
    first.gives(withheld(null))
    const again = (occurredAt: string, caller: string | null = CALLER) =>
      routeArrival(windowed, { callId: nthCallId(2), occurredAt, caller }, first.events)
    again(instantAfter(3_599)).gives(withheld('duplicate'))
    again(instantAfter(3_600)).gives(withheld(null))
    again(instantAfter(1), null).gives(withheld(null))
  })

  it('is looked up when the ledger has dropped it', () => {
    const { campaignId, publisherId } = windowed
    const key = `caller-memory/${laneCallerKey(laneId(campaignId, publisherId), CALLER)}`
    const sent = (seconds: number) => ({
      [key]: { workspaceId: WORKSPACE, at: instantAfter(-seconds), targetId: null },
    })
    routeArrival(windowed, {}, [], sent(3_599)).gives(withheld('duplicate'))
    routeArrival(windowed, {}, [], sent(3_600)).gives(withheld(null))
  })
})

describe('a SIP call with a routing key', () => {
  const other = callWorld(
    [createPublisher, () => ({ name: 'Red Leads' })],
    [
      setLane,
      (events) => ({
        campaignId: campaignIn(events),
        publisherId: publisherIn(events, 1),
        terms: { payoutMode: 'fixed', payoutCents: 700 },
        key: { prefix: 'rk_red', hash: hashOf('red') },
      }),
    ],
  )
  const keyed = (secret: string, reads = other.reads, sent: object = {}) =>
    routeArrival({ reads }, { routingKeyHash: hashOf(secret), ...sent })
  const red = { attribution: 'routing_key', publisher: { name: 'Red Leads' }, campaign: { name: 'Solar West' } }
  const blue = { attribution: 'tracking_number', publisher: { name: 'Blue Leads' } }
  const by = (arrival: object) => [{ type: 'CallAdmitted', data: { arrival } }]
  const onceDone = (command: AnyCommand, input: object) => ({
    ...other.reads,
    workspace: given(workspace, other.events).when(command, input).state,
  })
  const keyId = idIn(other.events, 'LaneOpened', 'key', 1)

  it('is attributed to the key’s lane, whatever lane the number has', () => {
    const call = keyed('red')
    call.gives([
      {
        type: 'CallAdmitted',
        data: {
          arrival: { ...red, tags: { publisher: { value: 'Red Leads' } } },
          terms: { payoutMode: 'fixed', payoutCents: 700 },
        },
      },
    ])
    expect(counterOf(call.state, 'lane', laneId(other.campaignId, publisherIn(other.events, 1))).live).toBe(1)
    expect(counterOf(call.state, 'lane', laneId(other.campaignId, other.publisherId)).live).toBe(0)
  })

  it('is routed on a number without a campaign', () => {
    keyed('red', onceDone(assignNumber, { numberId: numberIn(other.events), campaignId: null })).gives(by(red))
  })

  it('is attributed by its number when the key is unknown or was revoked with its lane', () => {
    keyed('green').gives(by(blue))
    keyed(
      'red',
      onceDone(closeLane, { campaignId: other.campaignId, publisherId: publisherIn(other.events, 1) }),
    ).gives(by(blue))
  })

  it('accepts the previous secret until its grace period ends', () => {
    const rotated = onceDone(rotateRoutingKey, {
      keyId,
      graceMinutes: 60,
      key: { prefix: 'rk_new', hash: hashOf('new') },
    })
    keyed('new', rotated).gives(by(red))
    keyed('red', rotated, { occurredAt: instantAfter(3_599.999) }).gives(by(red))
    keyed('red', rotated, { occurredAt: instantAfter(3_600) }).gives(by(blue))
  })

  it('passes the gates of the key’s lane', () => {
    const off = onceDone(setLane, {
      campaignId: other.campaignId,
      publisherId: publisherIn(other.events, 1),
      terms: { active: false },
      key: { prefix: 'rk_', hash: hashOf('unused') },
    })
    keyed('red', off).gives([{ type: 'CallRefused', data: { gates: { failed: 'campaign_status' }, arrival: red } }])
  })
})
