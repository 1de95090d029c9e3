import { describe, it } from 'vitest'
import { callerKey } from '../../src/domain/ledger.ts'
import { after, anotherTarget, arrives, CALLER, callOf, callWorld, changing } from '../support/call-world.ts'
import { WORKSPACE } from '../support/spec.ts'

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
      { type: 'CallAdmitted', data: { inputs: { recalled: {} } } },
    ])
  })
})
