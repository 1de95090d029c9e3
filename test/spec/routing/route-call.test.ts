import { describe, expect, it } from 'vitest'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { callerKey, reachedKey, sentKey } from '../../../src/domain/routing/callers.ts'
import { counterOf } from '../../../src/domain/routing/ledger.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import {
  after,
  anotherTarget,
  arrives,
  CALLER,
  callOf,
  callWorld,
  changing,
} from '../../support/fixtures/call-world.ts'
import { played } from '../../support/fixtures/play-call.ts'
import { given, WORKSPACE } from '../../support/fixtures/spec.ts'
import { campaignIn, hashOf, idIn, numberIn, publisherIn } from '../../support/fixtures/workspace-fixture.ts'

const world = callWorld()

describe('route-call', () => {
  it('decides on a call once', () => {
    const first = arrives(world)
    arrives(world, {}, first.events).gives([])
    arrives(world, { occurredAt: after(30) }, first.events).gives([])
    const refusing = callWorld(changing.campaign({ anonymousPolicy: 'block' }))
    const refused = arrives(refusing, { caller: null })
    arrives(refusing, { caller: null }, refused.events).gives([])
    arrives(refusing, {}, refused.events).gives([])
  })

  it('refuses a number that the workspace does not hold', () => {
    arrives(world, { to: '+14155559999' }).gives({ refused: 'number-not-found' })
  })

  it('passes over a target whose one slot another call holds', () => {
    const capped = callWorld(changing.target({ dailyCap: 1 }), ...anotherTarget(1, {}, { priority: 200 }))
    const first = arrives(capped)
    first.gives([{ type: 'CallAdmitted', data: { claim: { target: { name: 'Front desk' } } } }])
    arrives(capped, { callId: callOf(2) }, first.events).gives([
      {
        type: 'CallAdmitted',
        data: {
          skipped: [{ reason: 'capped', figures: { window: 'daily', cap: 1, count: 1 } }],
          claim: { target: { name: 'Target 1' } },
        },
      },
    ])
  })

  it('judges and counts a call dated in the past in its own windows', () => {
    const capped = callWorld(changing.target({ dailyCap: 1, hourlyCap: 1 }))
    const past = '2026-03-08T23:59:59.999Z'
    const first = arrives(capped)
    const second = arrives(capped, { callId: callOf(2), occurredAt: past }, first.events)
    second.gives([{ type: 'CallAdmitted', data: { claim: { occurredAt: past } } }])
    arrives(capped, { callId: callOf(3), occurredAt: past }, second.events).gives([
      { type: 'CallAdmitted', data: { claim: null, unrouted: { reason: 'no_eligible_target' } } },
    ])
    arrives(capped, { callId: callOf(4), occurredAt: '2026-03-09T00:00:00.000Z' }, second.events).gives([
      { type: 'CallAdmitted', data: { unrouted: null } },
    ])
  })
})

describe('a repeat caller', () => {
  const blocking = callWorld(changing.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 86_400 }))
  const key = `caller-memory/${callerKey(blocking.campaignId, CALLER)}`
  const remembered = (seconds: number) => ({
    [key]: { workspaceId: WORKSPACE, at: after(-seconds), targetId: null },
  })

  it('is known to the ledger that let it in before', () => {
    const first = arrives(blocking)
    const repeat = { callId: callOf(2), occurredAt: after(60) }
    arrives(blocking, repeat, first.events).gives([
      { type: 'CallRefused', data: { unrouted: { reason: 'repeat_blocked' } } },
    ])
    arrives(blocking, { ...repeat, caller: '+14155550198' }, first.events).gives([{ type: 'CallAdmitted' }])
    arrives(blocking, { ...repeat, occurredAt: after(86_400) }, first.events).gives([{ type: 'CallAdmitted' }])
  })

  it('is recalled where the ledger has forgotten', () => {
    arrives(blocking, {}, [], remembered(86_399)).gives([{ type: 'CallRefused' }])
    arrives(blocking, {}, [], remembered(86_400)).gives([{ type: 'CallAdmitted' }])
  })

  it('is known by its latest admission, whatever was played in between', () => {
    const first = arrives(blocking)
    const older = arrives(blocking, { callId: callOf(2), occurredAt: after(-200_000) }, first.events)
    older.gives([{ type: 'CallAdmitted' }])
    arrives(blocking, { callId: callOf(3), occurredAt: after(60) }, older.events).gives([{ type: 'CallRefused' }])
  })

  it('was not admitted by being refused', () => {
    const first = arrives(blocking)
    const refused = arrives(blocking, { callId: callOf(2), occurredAt: after(86_399) }, first.events)
    refused.gives([{ type: 'CallRefused' }])
    arrives(blocking, { callId: callOf(3), occurredAt: after(86_400) }, refused.events).gives([
      { type: 'CallAdmitted' },
    ])
  })

  it('is not looked for where nothing depends on it', () => {
    arrives(callWorld(changing.campaign({ dedupeWindowSeconds: 86_400 })), {}, [], remembered(1)).gives([
      { type: 'CallAdmitted' },
    ])
  })

  it('is known by the later of what the ledger and the memory have of it', () => {
    const older = arrives(blocking, { callId: callOf(2), occurredAt: after(-200_000) })
    arrives(blocking, {}, older.events).gives([{ type: 'CallAdmitted' }])
    arrives(blocking, {}, older.events, remembered(60)).gives([{ type: 'CallRefused' }])
  })
})

describe('a duplicate caller of a target', () => {
  const ninetyDays = 7_776_000
  const windowed = callWorld(
    changing.target({ dedupeWindowSeconds: ninetyDays }),
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
    [`caller-memory/${reachedKey(windowed.targetId(), CALLER)}`]: {
      workspaceId: WORKSPACE,
      at: after(-seconds),
      targetId: windowed.targetId(),
    },
  })

  it('is one whom the target was connected to, on whatever campaign, from the answer until the window ends', () => {
    const before = played(windowed, { overAfter: 10 }).ledger
    const comes = (occurredAt: string, sent: object = {}) =>
      arrives(windowed, { callId: callOf(2), occurredAt, ...sent }, before)
    comes(after(3)).gives(skipping)
    comes(after(3 - 4 * 3_600 + 1)).gives(skipping)
    comes(after(3 - 4 * 3_600)).gives(dialling)
    comes(after(ninetyDays + 2)).gives(skipping)
    comes(after(ninetyDays + 3)).gives(dialling)
    comes(after(3), { caller: null }).gives(dialling)
    comes(after(3), { caller: '+14155550198' }).gives(dialling)
  })

  it('is not one whom it was only rung for', () => {
    const before = played(windowed, { dials: [['busy', 2]], overAfter: null }).ledger
    arrives(windowed, { callId: callOf(2), occurredAt: after(60) }, before).gives(dialling)
  })

  it('is recalled where the ledger has forgotten', () => {
    arrives(windowed, {}, [], reached(ninetyDays - 1)).gives(skipping)
    arrives(windowed, {}, [], reached(ninetyDays)).gives(dialling)
    arrives(callWorld(...anotherTarget(1, {}, { priority: 200 })), {}, [], reached(1)).gives(dialling)
  })
})

describe('a duplicate caller of a lane', () => {
  const windowed = callWorld(changing.lane({ dedupeWindowSeconds: 3_600 }))
  const withheld = (payoutWithheld: string | null) => [{ type: 'CallAdmitted', data: { terms: { payoutWithheld } } }]

  it('is one whom it sent before, and who was let in: its publisher earns nothing from that call', () => {
    const first = arrives(windowed)
    first.gives(withheld(null))
    const again = (occurredAt: string, caller: string | null = CALLER) =>
      arrives(windowed, { callId: callOf(2), occurredAt, caller }, first.events)
    again(after(3_599)).gives(withheld('duplicate'))
    again(after(3_600)).gives(withheld(null))
    again(after(1), null).gives(withheld(null))
  })

  it('is recalled where the ledger has forgotten', () => {
    const { campaignId, publisherId } = windowed
    const key = `caller-memory/${sentKey(laneId(campaignId, publisherId), CALLER)}`
    const sent = (seconds: number) => ({ [key]: { workspaceId: WORKSPACE, at: after(-seconds), targetId: null } })
    arrives(windowed, {}, [], sent(3_599)).gives(withheld('duplicate'))
    arrives(windowed, {}, [], sent(3_600)).gives(withheld(null))
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
    arrives({ reads }, { routingKeyHash: hashOf(secret), ...sent })
  const red = { attribution: 'routing_key', publisher: { name: 'Red Leads' }, campaign: { name: 'Solar West' } }
  const blue = { attribution: 'tracking_number', publisher: { name: 'Blue Leads' } }
  const by = (arrival: object) => [{ type: 'CallAdmitted', data: { arrival } }]
  const onceDone = (command: AnyCommand, input: object) => ({
    ...other.reads,
    workspace: given(workspace, other.events).when(command, input).state,
  })
  const keyId = idIn(other.events, 'LaneOpened', 'key', 1)

  it('is on the account of the key’s lane, whoever the number belongs to', () => {
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

  it('needs no campaign on its number', () => {
    keyed('red', onceDone(assignNumber, { numberId: numberIn(other.events), campaignId: null })).gives(by(red))
  })

  it('is its number’s where the key is unknown, or revoked with its lane', () => {
    keyed('green').gives(by(blue))
    keyed(
      'red',
      onceDone(closeLane, { campaignId: other.campaignId, publisherId: publisherIn(other.events, 1) }),
    ).gives(by(blue))
  })

  it('goes on with the secret before until its grace ends', () => {
    const rotated = onceDone(rotateRoutingKey, {
      keyId,
      graceMinutes: 60,
      key: { prefix: 'rk_new', hash: hashOf('new') },
    })
    keyed('new', rotated).gives(by(red))
    keyed('red', rotated, { occurredAt: after(3_599.999) }).gives(by(red))
    keyed('red', rotated, { occurredAt: after(3_600) }).gives(by(blue))
  })

  it('meets the gates of the key’s lane', () => {
    const off = onceDone(setLane, {
      campaignId: other.campaignId,
      publisherId: publisherIn(other.events, 1),
      terms: { active: false },
      key: { prefix: 'rk_', hash: hashOf('unused') },
    })
    keyed('red', off).gives([{ type: 'CallRefused', data: { gates: { failed: 'campaign_status' }, arrival: red } }])
  })
})
