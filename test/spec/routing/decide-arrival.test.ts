import { describe, expect, it } from 'vitest'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { callerKey, connectionKey } from '../../../src/domain/routing/callers.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { gateCode } from '../../../src/domain/shared/call-codes.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  anotherTarget,
  CALLER,
  callWorld,
  changeSteps,
  DIALED,
  decisionEvent,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { given, idOf, NOW, stateOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { campaignIn, idIn, numberIn } from '../../support/fixtures/workspace-fixture.ts'

const world = callWorld()

describe('an admitted call', () => {
  it('is one event with caller, gates, terms, plan and first claim', () => {
    routeArrival(world).gives([
      {
        type: 'CallAdmitted',
        data: {
          arrival: {
            callId: nthCallId(1),
            carrierCallId: 'carrier-1',
            seq: 1,
            ref: 'CA-0000000001',
            occurredAt: NOW,
            caller: CALLER,
            callerState: 'CA',
            callerCity: null,
            dialedNumber: DIALED,
            numberId: numberIn(world.events),
            numberPoolId: null,
            attribution: 'tracking_number',
            campaign: { id: world.campaignId, name: 'Solar West' },
            publisher: { id: world.publisherId, name: 'Blue Leads' },
            routingMode: 'priority',
            recordCalls: true,
            tags: {
              dialedNumber: { value: DIALED, source: 'system' },
              publisher: { value: 'Blue Leads', source: 'system' },
              callerAreaCode: { value: '415', source: 'system' },
              callerState: { value: 'CA', source: 'system' },
            },
          },
          gates: { passed: gateCode.options, failed: null },
          terms: { payoutMode: 'revshare', usageRateCents: 3 },
          settings: { dialTimeoutSeconds: 25, deadline: instantAfter(90), states: [] },
          plan: [{ targetName: 'Front desk', revenueCents: 4_000 }],
          skipped: [],
          claim: { attempt: 1, target: { name: 'Front desk' }, occurredAt: NOW },
          unrouted: null,
          inputs: { seed: 1 },
        },
      },
    ])
  })

  it('names the pool of its number', () => {
    const poolIn = (events: readonly NewEvent[]) => idIn(events, 'PoolCreated', 'pool')
    const settings = { name: 'Visitors' }
    const pooled = callWorld(
      [createPool, (events) => ({ campaignId: campaignIn(events), publicKey: `pk_${'0'.repeat(24)}`, settings })],
      [assignNumber, (events) => ({ numberId: numberIn(events), poolId: poolIn(events), publisherId: null })],
    )
    routeArrival(pooled).gives([{ type: 'CallAdmitted', data: { arrival: { numberPoolId: poolIn(pooled.events) } } }])
  })

  it('is numbered after the last call, admitted or refused', () => {
    const refused = routeArrival(callWorld(changeSteps.campaign({ anonymousPolicy: 'block' })), { caller: null })
    const second = routeArrival(world, { callId: nthCallId(2) }, refused.events)
    routeArrival(world, { callId: nthCallId(3) }, second.events).gives([
      { type: 'CallAdmitted', data: { arrival: { seq: 3, ref: 'CA-0000000003' } } },
    ])
  })

  it('has no state and no caller tags when the caller is hidden', () => {
    routeArrival(world, { caller: null }).gives([
      { type: 'CallAdmitted', data: { arrival: { caller: null, callerState: null } } },
    ])
    expect(routeArrival(world, { caller: null }).outcome).not.toMatchObject([
      { data: { arrival: { tags: { callerState: expect.anything() } } } },
    ])
  })

  it('that no target can take is admitted and unrouted, with the action of its campaign', () => {
    const message = { unroutedAction: 'message', unroutedMessage: 'Nobody is free.' }
    routeArrival(callWorld(changeSteps.target({ states: ['NY'] }), changeSteps.campaign(message))).gives([
      {
        type: 'CallAdmitted',
        data: {
          claim: null,
          skipped: [{ reason: 'state', targetName: 'Front desk' }],
          unrouted: { reason: 'no_eligible_target', action: 'message', message: 'Nobody is free.', forwardE164: null },
        },
      },
    ])
  })

  it('is unrouted with no_targets when no route is active', () => {
    const { events, reads, campaignId, targetId } = callWorld()
    const [command] = changeSteps.route({})
    const off = given(workspace, events).when(command, {
      campaignId,
      targetId: targetId(),
      settings: { active: false },
    })
    routeArrival({ reads: { ...reads, workspace: off.state } }).gives([
      { type: 'CallAdmitted', data: { plan: [], skipped: [], unrouted: { reason: 'no_targets' } } },
    ])
  })

  it('is unrouted with no_targets when all planned targets are paused, and with no_eligible_target when some are active', () => {
    const paused = ({ events, reads, targetId }: typeof world) => {
      const off = given(workspace, events).when(setTargetStatus, { targetId: targetId(), status: 'paused' })
      return routeArrival({ reads: { ...reads, workspace: off.state } })
    }
    paused(world).gives([
      { type: 'CallAdmitted', data: { skipped: [{ reason: 'paused' }], unrouted: { reason: 'no_targets' } } },
    ])
    paused(callWorld(...anotherTarget(1, { states: ['NY'] }, { priority: 200 }))).gives([
      {
        type: 'CallAdmitted',
        data: { skipped: [{ reason: 'paused' }, { reason: 'state' }], unrouted: { reason: 'no_eligible_target' } },
      },
    ])
  })

  it('checks every planned target, also those behind the claimed one', () => {
    const behind = callWorld(
      ...anotherTarget(1, { states: ['NY'] }, { priority: 200 }),
      ...anotherTarget(2, {}, { priority: 300 }),
    )
    routeArrival(behind).gives([
      {
        type: 'CallAdmitted',
        data: {
          plan: [{ targetName: 'Front desk' }, { targetName: 'Target 1' }, { targetName: 'Target 2' }],
          skipped: [{ targetName: 'Target 1', reason: 'state' }],
          claim: { target: { name: 'Front desk' } },
        },
      },
    ])
  })
})

describe('a refused call', () => {
  it('names the gate that refused it and the action of the campaign', () => {
    const forward = { unroutedAction: 'forward', unroutedForwardE164: '+14155550188', anonymousPolicy: 'block' }
    routeArrival(callWorld(changeSteps.campaign(forward)), { caller: null }).gives([
      {
        type: 'CallRefused',
        data: {
          gates: { passed: gateCode.options.slice(0, 4), failed: 'anonymous_caller' },
          unrouted: { reason: 'anonymous_blocked', action: 'forward', forwardE164: '+14155550188' },
          terms: { usageRateCents: 3 },
        },
      },
    ])
  })

  it('has no message and no forwarding number when the campaign uses neither', () => {
    const set = { unroutedMessage: 'Nobody is here.', unroutedForwardE164: '+14155550188', anonymousPolicy: 'block' }
    for (const [action, message, forwardE164] of [
      ['hangup', null, null],
      ['message', set.unroutedMessage, null],
      ['forward', null, set.unroutedForwardE164],
    ])
      routeArrival(callWorld(changeSteps.campaign({ ...set, unroutedAction: action })), { caller: null }).gives([
        { type: 'CallRefused', data: { unrouted: { action, message, forwardE164 } } },
      ])
  })

  it('on a number without a campaign is direct, and ends campaign_not_live with a hang-up', () => {
    const unassigned = given(workspace, world.events).when(assignNumber, {
      numberId: numberIn(world.events),
      campaignId: null,
    })
    routeArrival({ reads: { ...world.reads, workspace: unassigned.state } }).gives([
      {
        type: 'CallRefused',
        data: {
          arrival: { campaign: null, publisher: null, attribution: 'direct', routingMode: null, recordCalls: false },
          gates: { passed: ['subscription', 'wallet'], failed: 'campaign_status' },
          terms: { payoutMode: 'none', bufferSeconds: 0 },
          unrouted: { reason: 'campaign_not_live', action: 'hangup', sentence: 'The number is on no campaign.' },
        },
      },
    ])
  })

  it('changes no counter', () => {
    const { state } = routeArrival(callWorld(changeSteps.campaign({ anonymousPolicy: 'block' })), { caller: null })
    expect([state.counters.size, state.calls.size, state.seq]).toEqual([0, 0, 1])
  })
})

describe('a repeat caller under same_target', () => {
  const sticky = callWorld(
    changeSteps.campaign({ repeatCallerPolicy: 'same_target', dedupeWindowSeconds: 3_600 }),
    ...anotherTarget(1, {}, { priority: 200 }),
  )
  const admission = callerKey(sticky.campaignId, CALLER)
  const memory = (key: string, seconds: number, targetId: string | null) => ({
    [`caller-memory/${key}`]: { workspaceId: WORKSPACE, at: instantAfter(-seconds), targetId },
  })
  /** The plan for a caller, by the ages in seconds of the caller's last admission and of the last connection to the target. */
  const firstOf = (seconds: number, targetId: string | null, connectedAgo = seconds) => {
    const connected = targetId === null ? {} : memory(connectionKey(admission), connectedAgo, targetId)
    const { data } = decisionEvent(routeArrival(sticky, {}, [], { ...memory(admission, seconds, null), ...connected }))
    const { plan, claim } = ledgerEvents.CallAdmitted.parse(data)
    return { order: plan.map(({ targetName }) => targetName), claimed: claim?.target.name }
  }

  it('is dialled first to the target that connected last, inside the window', () => {
    expect(firstOf(3_599, sticky.targetId(1))).toMatchObject({ order: ['Target 1', 'Front desk'], claimed: 'Target 1' })
    expect(firstOf(3_600, sticky.targetId(1))).toMatchObject({ order: ['Front desk', 'Target 1'] })
  })

  it('follows the plan when no target connected before', () => {
    expect(firstOf(10, null)).toMatchObject({ order: ['Front desk', 'Target 1'], claimed: 'Front desk' })
  })

  it('is dialled first to the last connected target, however old that connection is and though later calls did not connect', () => {
    expect(firstOf(10, sticky.targetId(1), 90 * 86_400)).toMatchObject({ claimed: 'Target 1' })
  })

  it('follows the plan when the last connected target is no longer on it', () => {
    expect(firstOf(10, idOf(9))).toMatchObject({ order: ['Front desk', 'Target 1'] })
  })

  it('is dialled first to the last connected target of calls in the ledger, though the latest was not answered', () => {
    const busy = ['busy', 2] as const
    const connected: CallScript = { dials: [busy, ['answer', 3]], overAfter: 10 }
    const lost: CallScript = { at: instantAfter(60), dials: [busy, busy], overAfter: 0 }
    const third = decisionEvent(
      routeArrival(
        sticky,
        { callId: nthCallId(3), occurredAt: instantAfter(120) },
        playCalls(sticky, connected, lost).ledger,
      ),
    )
    expect(ledgerEvents.CallAdmitted.parse(third.data).claim).toMatchObject({ target: { name: 'Target 1' } })
  })
})

describe('the decision on an arrival', () => {
  it('is the same for the same inputs', () => {
    expect(routeArrival(world).outcome).toEqual(routeArrival(world).outcome)
    expect(stateOf(ledger, routeArrival(world).events)).toEqual(routeArrival(world).state)
  })
})
