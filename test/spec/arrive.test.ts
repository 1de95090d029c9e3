import { describe, expect, it } from 'vitest'
import { assignNumber } from '../../commands/assign-number.ts'
import { gateCode } from '../../src/domain/call-facts.ts'
import { ledger, ledgerEvents } from '../../src/domain/ledger.ts'
import { decideArrival } from '../../src/domain/routing/arrive.ts'
import { workspace } from '../../src/domain/workspace.ts'
import { after, anotherTarget, arrives, CALLER, callOf, callWorld, changing, DIALED } from '../support/call-world.ts'
import { numberIn } from '../support/configured.ts'
import { folded, given, NOW } from '../support/spec.ts'

const world = callWorld()

describe('an admitted call', () => {
  it('says in one event who called, what it passed, its terms, its plan and the first claim', () => {
    arrives(world).gives([
      {
        type: 'CallAdmitted',
        data: {
          arrival: {
            callId: callOf(1),
            carrierCallId: 'carrier-1',
            seq: 1,
            ref: 'CA-0000000001',
            occurredAt: NOW,
            caller: CALLER,
            callerState: 'CA',
            callerCity: null,
            dialedNumber: DIALED,
            numberId: numberIn(world.events),
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
          settings: { dialTimeoutSeconds: 25, deadline: after(90), states: [] },
          plan: [{ targetName: 'Front desk', revenueCents: 4_000 }],
          skipped: [],
          claim: { attempt: 1, target: { name: 'Front desk' }, occurredAt: NOW },
          unrouted: null,
          inputs: { seed: 1, recalled: {} },
        },
      },
    ])
  })

  it('is numbered behind the last, whether that was let in or not', () => {
    const refused = arrives(callWorld(changing.campaign({ anonymousPolicy: 'block' })), { caller: null })
    const second = arrives(world, { callId: callOf(2) }, refused.events)
    arrives(world, { callId: callOf(3) }, second.events).gives([
      { type: 'CallAdmitted', data: { arrival: { seq: 3, ref: 'CA-0000000003' } } },
    ])
  })

  it('has no state and no tags of a hidden caller', () => {
    arrives(world, { caller: null }).gives([
      { type: 'CallAdmitted', data: { arrival: { caller: null, callerState: null } } },
    ])
    expect(arrives(world, { caller: null }).outcome).not.toMatchObject([
      { data: { arrival: { tags: { callerState: expect.anything() } } } },
    ])
  })

  it('that nobody can take is let in and unrouted, as its campaign says', () => {
    const message = { unroutedAction: 'message', unroutedMessage: 'Nobody is free.' }
    arrives(callWorld(changing.target({ states: ['NY'] }), changing.campaign(message))).gives([
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

  it('finds no targets where no route is active', () => {
    const { events, reads, campaignId, targetId } = callWorld()
    const [command] = changing.route({})
    const off = given(workspace, events).when(command, {
      campaignId,
      targetId: targetId(),
      settings: { active: false },
    })
    arrives({ reads: { ...reads, workspace: off.state } }).gives([
      { type: 'CallAdmitted', data: { plan: [], skipped: [], unrouted: { reason: 'no_targets' } } },
    ])
  })
})

describe('a refused call', () => {
  it('says which gate refused it, and what the campaign does with such a caller', () => {
    const forward = { unroutedAction: 'forward', unroutedForwardE164: '+14155550188', anonymousPolicy: 'block' }
    arrives(callWorld(changing.campaign(forward)), { caller: null }).gives([
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

  it('on a number without a campaign is direct, and ends campaign_not_live with a hang-up', () => {
    const unassigned = given(workspace, world.events).when(assignNumber, {
      numberId: numberIn(world.events),
      campaignId: null,
    })
    arrives({ reads: { ...world.reads, workspace: unassigned.state } }).gives([
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

  it('counts nothing', () => {
    const { state } = arrives(callWorld(changing.campaign({ anonymousPolicy: 'block' })), { caller: null })
    expect([state.counters.size, state.calls.size, state.seq]).toEqual([0, 0, 1])
  })
})

describe('a repeat caller under same_target', () => {
  const sticky = callWorld(
    changing.campaign({ repeatCallerPolicy: 'same_target', dedupeWindowSeconds: 3_600 }),
    ...anotherTarget(1, {}, { priority: 200 }),
  )
  const firstOf = (seconds: number, targetId: string | null) => {
    const number = sticky.reads.workspace.numbers.get(numberIn(sticky.events))
    if (!number) throw new Error('The number is gone.')
    const { data } = decideArrival({
      ...sticky.reads,
      ledger: ledger.initial,
      number,
      callId: callOf(1),
      carrierCallId: 'carrier-1',
      caller: CALLER,
      seen: { at: after(-seconds), targetId },
      seed: 1,
      at: NOW,
    })
    const { plan, claim, inputs } = ledgerEvents.CallAdmitted.parse(data)
    return { order: plan.map(({ targetName }) => targetName), claimed: claim?.target.name, recalled: inputs.recalled }
  }

  it('is tried with the target that connected last time, inside the window', () => {
    expect(firstOf(3_599, sticky.targetId(1))).toMatchObject({ order: ['Target 1', 'Front desk'], claimed: 'Target 1' })
    expect(firstOf(3_600, sticky.targetId(1))).toMatchObject({ order: ['Front desk', 'Target 1'] })
  })

  it('goes by the plan when none connected', () => {
    expect(firstOf(10, null)).toMatchObject({ order: ['Front desk', 'Target 1'], claimed: 'Front desk' })
  })

  it('is recorded with what was remembered', () => {
    expect(firstOf(10, null).recalled).toEqual({ seen: { at: after(-10), targetId: null } })
  })
})

describe('the decision', () => {
  it('is the same for the same inputs', () => {
    expect(arrives(world).outcome).toEqual(arrives(world).outcome)
    expect(folded(ledger, arrives(world).events)).toEqual(arrives(world).state)
  })
})
