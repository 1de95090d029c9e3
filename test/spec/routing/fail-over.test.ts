import { describe, expect, it } from 'vitest'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { targetCallerKey } from '../../../src/domain/routing/callers.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  anotherTarget,
  CALLER,
  type CallWorld,
  callWorld,
  changeSteps,
  DIALED,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given, stateOf, WORKSPACE } from '../../support/fixtures/spec.ts'

const second = anotherTarget(1, {}, { priority: 200 })
const world = callWorld(...second)

function fails(
  before: readonly NewEvent[],
  { attempt = 1, seconds = 25, outcome = 'no_answer', callId = nthCallId(1) } = {},
  { reads }: Pick<CallWorld, 'reads'> = world,
  memory: Readonly<Record<string, unknown>> = {},
) {
  return given(ledger, before).when(
    failOver,
    { callId, attempt, outcome, occurredAt: instantAfter(seconds) },
    { reads: { workspace: reads.workspace }, memory },
  )
}

describe('fail-over', () => {
  it('gives the slot back and claims the next target in one append', () => {
    const failed = fails(routeArrival(world).events, { outcome: 'busy' })
    failed.gives([
      {
        type: 'ClaimReleased',
        data: { attempt: 1, targetId: world.targetId(), outcome: 'busy', occurredAt: instantAfter(25) },
      },
      {
        type: 'TargetClaimed',
        data: { claim: { attempt: 2, target: { name: 'Target 1' }, occurredAt: instantAfter(25) } },
      },
    ])
    expect([world.targetId(0), world.targetId(1)].map((id) => counterOf(failed.state, 'target', id).live)).toEqual([
      0, 1,
    ])
    expect(counterOf(failed.state, 'buyer', world.buyerId)).toMatchObject({ live: 1, total: 1 })
  })

  it('claims the targets of the plan in order, then records that the plan is spent', () => {
    const once = fails(routeArrival(world).events)
    const twice = fails(once.events, { attempt: 2, seconds: 50 })
    twice.gives([
      { type: 'ClaimReleased', data: { attempt: 2 } },
      {
        type: 'PlanSpent',
        data: {
          skipped: [],
          unrouted: {
            reason: 'all_targets_failed',
            sentence: '2 targets of campaign Solar West were dialled and none answered.',
          },
        },
      },
    ])
    expect(counterOf(twice.state, 'buyer', world.buyerId)).toMatchObject({ live: 0, total: 0 })
  })

  it('records the skipped targets', () => {
    const third = anotherTarget(2, {}, { priority: 300 })
    const three = callWorld(...anotherTarget(1, { states: ['NY'] }, { priority: 200 }), ...third)
    fails(routeArrival(callWorld(...second, ...third)).events, {}, three).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { skipped: [{ reason: 'state' }], claim: { target: { name: 'Target 2' } } } },
    ])
    const two = callWorld(...anotherTarget(1, { states: ['NY'] }, { priority: 200 }))
    fails(routeArrival(world).events, {}, two).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'state' }], unrouted: { reason: 'all_targets_failed' } } },
    ])
  })

  it('never claims a target that was skipped at planning for another reason than concurrency', () => {
    const three = callWorld(
      ...anotherTarget(1, { states: ['NY'] }, { priority: 200 }),
      ...anotherTarget(2, {}, { priority: 300 }),
    )
    const opened = callWorld(...second, ...anotherTarget(2, {}, { priority: 300 }))
    const once = fails(routeArrival(three).events, {}, opened)
    once.gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { skipped: [], claim: { target: { name: 'Target 2' } } } },
    ])
    fails(once.events, { attempt: 2, seconds: 50 }, opened).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [], unrouted: { reason: 'all_targets_failed' } } },
    ])
  })

  it.each([
    [64.999, 25],
    [65, 25],
    [66, 24],
    [89, 1],
  ])('%d seconds into a budget of 90, the next target rings for %d', (seconds, ringSeconds) => {
    fails(routeArrival(world).events, { seconds }).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { claim: { ringSeconds } } },
    ])
  })

  it.each([89.001, 90, 200])('claims no target %d seconds into a budget of 90', (seconds) => {
    fails(routeArrival(world).events, { seconds }).gives([
      { type: 'ClaimReleased' },
      {
        type: 'PlanSpent',
        data: {
          skipped: [],
          unrouted: { reason: 'all_targets_failed', sentence: expect.stringContaining('1 target left') },
        },
      },
    ])
  })

  it('uses the present targets and buyers, and the campaign settings of the arrival', () => {
    const arrived = routeArrival(world).events
    const now = (...changes: readonly (readonly [AnyCommand, object])[]) => {
      const changed = changes.reduce(
        (events, [command, input]) => given(workspace, events).when(command, input).events,
        world.events,
      )
      return { reads: { ...world.reads, workspace: stateOf(workspace, changed) } }
    }
    const [pause] = changeSteps.targetStatus('paused')
    fails(arrived, {}, now([pause, { targetId: world.targetId(1), status: 'paused' }])).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'paused' }] } },
    ])
    const [change] = changeSteps.campaign({})
    const [reprice] = changeSteps.target({})
    fails(
      arrived,
      {},
      now(
        [change, { campaignId: world.campaignId, changes: { states: ['NY'], dialTimeoutSeconds: 5 } }],
        [reprice, { targetId: world.targetId(1), changes: { revenueCents: 1 } }],
      ),
    ).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { claim: { ringSeconds: 25, revenueCents: 3_000 } } },
    ])
  })

  it('treats the released slot of a shared buyer as free', () => {
    const shared = callWorld(...second, changeSteps.buyer({ concurrencyCap: 1, dailyCap: 1 }))
    fails(routeArrival(shared).events, {}, shared).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
  })

  it('skips a target that was connected to the caller, by the ledger or the projection', () => {
    const windowed = callWorld(...anotherTarget(1, { dedupeWindowSeconds: 3_600 }, { priority: 200 }))
    const key = targetCallerKey(windowed.targetId(1), CALLER)
    const connected = (seconds: number) => ({
      [`caller-memory/${key}`]: { workspaceId: WORKSPACE, at: instantAfter(seconds), targetId: windowed.targetId(1) },
    })
    const fresh = routeArrival(windowed).events
    const spent = [{ type: 'ClaimReleased' }, { type: 'PlanSpent', data: { skipped: [{ reason: 'duplicate' }] } }]
    fails(fresh, {}, windowed, connected(25 - 3_599)).gives(spent)
    fails(fresh, {}, windowed, connected(25 - 3_600)).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
    const both = routeArrival(windowed, { callId: nthCallId(2) }, fresh).events
    const other = fails(both, { callId: nthCallId(2), seconds: 5 }, windowed)
    const answered = given(ledger, other.events).when(countAnswer, {
      callId: nthCallId(2),
      attempt: 2,
      occurredAt: instantAfter(8),
    })
    fails(answered.events, {}, windowed).gives(spent)
  })

  it('checks the tags of the arrival', () => {
    const tagFilters = [{ key: 'callerState', op: 'in', value: ['NY', 'TX'] }]
    const filtered = callWorld(...anotherTarget(1, { tagFilters }, { priority: 200 }))
    fails(routeArrival(world).events, {}, filtered).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'tag_filter', figures: { tag: 'CA' } }] } },
    ])
    const texan = routeArrival(world, { caller: '+15125550123' }).events
    fails(texan, {}, filtered).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
  })

  it('keeps a slot that counts by its claim', () => {
    const counting = callWorld(
      ...second,
      changeSteps.target({ capCountsOn: 'claimed' }),
      changeSteps.buyer({ dailyCap: 1 }),
    )
    fails(routeArrival(counting).events, {}, counting).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'buyer_capped' }] } },
    ])
  })
})

describe('fail-over of a call with targets that were busy when its plan was made', () => {
  const [earlier, later] = [nthCallId(1), nthCallId(2)]
  const one = changeSteps.target({ concurrencyCap: 1 })
  const busyFirst = callWorld(...second, one)
  const claimedTarget = (name: string, attempt: number, seconds: number) => ({
    type: 'TargetClaimed',
    data: { claim: { attempt, target: { name }, occurredAt: instantAfter(seconds) } },
  })

  /** Two calls: the earlier one holds the first target, so the plan of the later one passes it over. */
  function twoCalls(busy: CallWorld) {
    const first = routeArrival(busy).events
    const both = routeArrival(busy, { callId: later }, first)
    both.gives([{ type: 'CallAdmitted', data: { skipped: [{ targetName: 'Front desk', reason: 'concurrency' }] } }])
    return both.events
  }
  const endEarlier = (events: readonly NewEvent[]) =>
    given(ledger, events).when(releaseCall, { callId: earlier, connected: false, occurredAt: instantAfter(5) }).events

  it('tries them once more after the last other target has failed, in the order of the plan', () => {
    const both = callWorld(
      one,
      ...anotherTarget(1, {}, { priority: 200 }),
      ...anotherTarget(2, { concurrencyCap: 1 }, { priority: 50 }),
      ...anotherTarget(3, {}, { priority: 300 }),
    )
    const zeroth = routeArrival(both, { callId: nthCallId(3) }).events
    const arrived = routeArrival(both, { callId: later }, routeArrival(both, {}, zeroth).events)
    arrived.gives([
      { type: 'CallAdmitted', data: { skipped: [{ targetName: 'Target 2' }, { targetName: 'Front desk' }] } },
    ])
    const released = [nthCallId(3), earlier].reduce(
      (events, callId) =>
        given(ledger, events).when(releaseCall, { callId, connected: false, occurredAt: instantAfter(5) }).events,
      arrived.events,
    )
    let events = released
    for (const [attempt, next] of ['Target 3', 'Target 2', 'Front desk'].entries()) {
      const failed = fails(events, { callId: later, attempt: attempt + 1, seconds: 10 * (attempt + 1) }, both)
      failed.gives([{ type: 'ClaimReleased' }, claimedTarget(next, attempt + 2, 10 * (attempt + 1))])
      events = failed.events
    }
    fails(events, { callId: later, attempt: 4, seconds: 40 }, both).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [], unrouted: { reason: 'all_targets_failed' } } },
    ])
  })

  it('looks at one that is still busy once, and records why it is skipped', () => {
    fails(twoCalls(busyFirst), { callId: later }, busyFirst).gives([
      { type: 'ClaimReleased' },
      {
        type: 'PlanSpent',
        data: {
          skipped: [{ targetName: 'Front desk', reason: 'concurrency' }],
          unrouted: { reason: 'all_targets_failed', sentence: expect.stringContaining('1 target of campaign') },
        },
      },
    ])
  })

  it('exceeds no cap that has filled meanwhile', () => {
    const events = endEarlier(twoCalls(busyFirst))
    const filled = given(ledger, events).when(
      routeCall,
      { callId: nthCallId(4), carrierCallId: 'carrier-4', to: DIALED, caller: CALLER, occurredAt: instantAfter(6) },
      { reads: busyFirst.reads },
    )
    filled.gives([{ type: 'CallAdmitted', data: { claim: { target: { name: 'Front desk' } } } }])
    fails(filled.events, { callId: later }, busyFirst).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'concurrency' }] } },
    ])
  })

  it.each([
    [89, [{ type: 'ClaimReleased' }, claimedTarget('Front desk', 2, 89)]],
    [
      89.001,
      [
        { type: 'ClaimReleased' },
        { type: 'PlanSpent', data: { skipped: [], unrouted: { sentence: expect.stringContaining('1 target left') } } },
      ],
    ],
  ])('%d seconds into a budget of 90', (seconds, expected) => {
    fails(endEarlier(twoCalls(busyFirst)), { callId: later, seconds }, busyFirst).gives(expected)
  })
})

describe('fail-over changes nothing', () => {
  const once = fails(routeArrival(world).events).events
  const release = (events: readonly NewEvent[]) =>
    given(ledger, events).when(releaseCall, { callId: nthCallId(1), connected: false, occurredAt: instantAfter(30) })
      .events
  const answer = (events: readonly NewEvent[], attempt: number) =>
    given(ledger, events).when(countAnswer, { callId: nthCallId(1), attempt, occurredAt: instantAfter(30) }).events

  it.each([
    ['told twice', once, 1],
    ['for an attempt that has not been made', once, 3],
    ['when the plan is spent', fails(once, { attempt: 2 }).events, 2],
    ['once it has been heard of after the release of its call', fails(release(once), { attempt: 2 }).events, 2],
    ['for an earlier attempt, once the call has been released', release(once), 1],
    ['once the attempt was answered', answer(once, 2), 2],
    ['for a call that it does not know', [], 1],
  ])('%s', (_when, events, attempt) => {
    fails(events, { attempt }).gives([])
  })
})
