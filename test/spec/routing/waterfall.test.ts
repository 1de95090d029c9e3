import { describe, expect, it } from 'vitest'
import type { RoutingSettings } from '../../../src/domain/routing/decision.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { orderedPlan } from '../../../src/domain/routing/plan.ts'
import { selectTarget, type WaterfallInput } from '../../../src/domain/routing/waterfall.ts'
import {
  anotherTarget,
  CALLER,
  callWorld,
  changeSteps,
  DIALED,
  instantAfter,
} from '../../support/fixtures/call-world.ts'
import { NOW } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const settings: RoutingSettings = {
  dialTimeoutSeconds: 25,
  deadline: instantAfter(90),
  states: [],
  unrouted: { action: 'hangup', message: null, forwardE164: null },
}

function found(steps: readonly SetupStep[], changes: Partial<WaterfallInput> = {}) {
  const { reads, campaign } = callWorld(...steps)
  const result = selectTarget({
    workspace: reads.workspace,
    ledger: ledger.initial,
    caller: CALLER,
    callerState: 'CA',
    tags: {},
    campaignStates: [],
    lastSeen: () => null,
    bids: [],
    at: NOW,
    plan: orderedPlan(reads.workspace, campaign, 1),
    settings,
    campaignName: campaign.name,
    dialedNumber: DIALED,
    attempts: 0,
    ...changes,
  })
  if ('unasked' in result) throw new Error(`Bidders must be asked: ${result.unasked}`)
  return result
}

describe('the first eligible target', () => {
  it('is claimed with everything that its dial needs', () => {
    expect(found([changeSteps.target({ externalRef: 'desk-1', durationThresholdSeconds: 30 })])).toMatchObject({
      skipped: [],
      unrouted: null,
      claim: {
        attempt: 1,
        target: { name: 'Front desk' },
        buyer: { name: 'Solar Co' },
        externalRef: 'desk-1',
        deliveryMode: 'pstn',
        destination: '+14155550111',
        callerId: CALLER,
        whisper: null,
        ringSeconds: 25,
        revenueCents: 4_000,
        durationThresholdSeconds: 30,
        capCountsOn: 'connected',
        occurredAt: NOW,
      },
    })
  })

  it('is claimed after skipped targets, each with its reason', () => {
    const { skipped, claim } = found([
      changeSteps.targetStatus('paused'),
      ...anotherTarget(1, { states: ['NY'] }, { priority: 101 }),
      ...anotherTarget(2, {}, { priority: 102 }),
      ...anotherTarget(3, {}, { priority: 103 }),
    ])
    expect(skipped.map(({ targetName, reason }) => [targetName, reason])).toEqual([
      ['Front desk', 'paused'],
      ['Target 1', 'state'],
    ])
    expect(claim).toMatchObject({ target: { name: 'Target 2' }, attempt: 1 })
  })

  it('is dialled at its SIP address', () => {
    const sip = { type: 'sip', endpoint: { sipUri: 'sip:sales@pbx.example.com' } }
    const { claim } = found([changeSteps.targetStatus('paused'), ...anotherTarget(1, sip)])
    expect(claim).toMatchObject({ deliveryMode: 'sip', destination: 'sip:sales@pbx.example.com' })
  })

  it('is claimed with its whisper', () => {
    const whisper = { text: 'A solar call.', acceptDigit: '1' }
    expect(found([changeSteps.target({ endpoint: { whisper } })]).claim?.whisper).toEqual(whisper)
  })

  it.each([
    ['caller', CALLER],
    ['tracking_number', DIALED],
    ['fixed', '+14155550177'],
  ])('is dialled in caller-id mode %s with %s', (callerIdMode, callerId) => {
    const endpoint = { callerIdMode, callerIdE164: '+14155550177' }
    expect(found([changeSteps.target({ endpoint })]).claim?.callerId).toBe(callerId)
  })

  it('is dialled without caller id when the caller is hidden', () => {
    expect(found([], { caller: null }).claim?.callerId).toBeNull()
  })
})

describe('the ring time', () => {
  it.each([
    ['is the endpoint’s own', 60, 90, 60],
    ['is the campaign’s where the endpoint has none', null, 90, 25],
    ['is what is left of the budget, when that is less', 60, 59, 59],
    ['is what is left of the budget, when that is less than the campaign’s', null, 24, 24],
  ])('%s', (_what, ringTimeoutSeconds, left, ringSeconds) => {
    const steps = ringTimeoutSeconds === null ? [] : [changeSteps.target({ endpoint: { ringTimeoutSeconds } })]
    expect(found(steps, { settings: { ...settings, deadline: instantAfter(left) } }).claim?.ringSeconds).toBe(
      ringSeconds,
    )
  })

  it('is rounded down to whole seconds of the failover budget', () => {
    const { claim } = found([], { settings: { ...settings, deadline: instantAfter(1.999) }, attempts: 1 })
    expect(claim).toMatchObject({ ringSeconds: 1, attempt: 2 })
  })
})

describe('a call that no target takes', () => {
  const all = (changes: Partial<WaterfallInput>, steps: readonly SetupStep[] = []) => found(steps, changes).unrouted

  it('is unrouted with no_targets on an empty plan', () => {
    expect(all({ plan: [] })).toEqual({
      reason: 'no_targets',
      sentence: 'The routing plan of campaign Solar West has no active targets.',
      ...settings.unrouted,
    })
  })

  it('is unrouted with no_eligible_target when all targets are skipped', () => {
    expect(all({}, [changeSteps.target({ states: ['NY'] })])).toMatchObject({
      reason: 'no_eligible_target',
      sentence: '1 target on the plan of campaign Solar West, and none could take the call.',
    })
  })

  it.each([
    [1, '1 target of campaign Solar West was dialled and none answered.'],
    [3, '3 targets of campaign Solar West were dialled and none answered.'],
  ])('is unrouted with all_targets_failed after %d dials', (attempts, sentence) => {
    expect(all({ plan: [], attempts })).toMatchObject({ reason: 'all_targets_failed', sentence })
    expect(all({ attempts }, [changeSteps.target({ states: ['NY'] })])).toMatchObject({ reason: 'all_targets_failed' })
  })

  it('is unrouted with all_targets_failed when the failover budget is spent before the plan', () => {
    const spent = (deadline: string) => found([], { attempts: 1, settings: { ...settings, deadline } })
    const sentence =
      '1 target of campaign Solar West was dialled and none answered before the failover budget was spent, with 1 target left.'
    const unrouted = { reason: 'all_targets_failed', sentence }
    expect(spent(instantAfter(0.999))).toMatchObject({ claim: null, skipped: [], unrouted })
    expect(spent(NOW)).toMatchObject({ claim: null })
    expect(spent(instantAfter(-5))).toMatchObject({ claim: null })
    expect(spent(instantAfter(1))).toMatchObject({ claim: { ringSeconds: 1 }, unrouted: null })
  })

  it.each([
    { action: 'hangup', message: null, forwardE164: null },
    { action: 'message', message: 'Nobody is free.', forwardE164: null },
    { action: 'forward', message: null, forwardE164: '+14155550188' },
  ] as const)('gets the unrouted action of the campaign: $action', (unrouted) => {
    expect(all({ plan: [], settings: { ...settings, unrouted } })).toMatchObject(unrouted)
  })
})
