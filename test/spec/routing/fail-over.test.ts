import { describe, expect, it } from 'vitest'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { reachedKey } from '../../../src/domain/routing/callers.ts'
import { counterOf, ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  after,
  anotherTarget,
  arrives,
  CALLER,
  type CallWorld,
  callOf,
  callWorld,
  changing,
} from '../../support/fixtures/call-world.ts'
import { folded, given, WORKSPACE } from '../../support/fixtures/spec.ts'

const second = anotherTarget(1, {}, { priority: 200 })
const world = callWorld(...second)

function fails(
  before: readonly NewEvent[],
  { attempt = 1, seconds = 25, outcome = 'no_answer', callId = callOf(1) } = {},
  { reads }: Pick<CallWorld, 'reads'> = world,
  memory: Readonly<Record<string, unknown>> = {},
) {
  return given(ledger, before).when(
    failOver,
    { callId, attempt, outcome, occurredAt: after(seconds) },
    { reads: { workspace: reads.workspace }, memory },
  )
}

describe('fail-over', () => {
  it('gives the slot back and claims the next target, in one breath', () => {
    const failed = fails(arrives(world).events, { outcome: 'busy' })
    failed.gives([
      {
        type: 'ClaimReleased',
        data: { attempt: 1, targetId: world.targetId(), outcome: 'busy', occurredAt: after(25) },
      },
      { type: 'TargetClaimed', data: { claim: { attempt: 2, target: { name: 'Target 1' }, occurredAt: after(25) } } },
    ])
    expect([world.targetId(0), world.targetId(1)].map((id) => counterOf(failed.state, 'target', id).live)).toEqual([
      0, 1,
    ])
    expect(counterOf(failed.state, 'buyer', world.buyerId)).toMatchObject({ live: 1, total: 1 })
  })

  it('goes down the plan, and then says that it is spent', () => {
    const once = fails(arrives(world).events)
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

  it('says whom it passed over', () => {
    const third = anotherTarget(2, {}, { priority: 300 })
    const three = callWorld(...anotherTarget(1, { states: ['NY'] }, { priority: 200 }), ...third)
    fails(arrives(callWorld(...second, ...third)).events, {}, three).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { skipped: [{ reason: 'state' }], claim: { target: { name: 'Target 2' } } } },
    ])
    const two = callWorld(...anotherTarget(1, { states: ['NY'] }, { priority: 200 }))
    fails(arrives(world).events, {}, two).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'state' }], unrouted: { reason: 'all_targets_failed' } } },
    ])
  })

  it('comes to nobody who was passed over when the plan was made, whatever has changed since', () => {
    const three = callWorld(
      ...anotherTarget(1, { states: ['NY'] }, { priority: 200 }),
      ...anotherTarget(2, {}, { priority: 300 }),
    )
    const opened = callWorld(...second, ...anotherTarget(2, {}, { priority: 300 }))
    fails(arrives(three).events, {}, opened).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { skipped: [], claim: { target: { name: 'Target 2' } } } },
    ])
  })

  it.each([
    [64.999, 25],
    [65, 25],
    [66, 24],
    [89, 1],
  ])('%d seconds into a budget of 90 lets the next ring for %d', (seconds, ringSeconds) => {
    fails(arrives(world).events, { seconds }).gives([
      { type: 'ClaimReleased' },
      { type: 'TargetClaimed', data: { claim: { ringSeconds } } },
    ])
  })

  it.each([89.001, 90, 200])('%d seconds into a budget of 90 there is no next', (seconds) => {
    fails(arrives(world).events, { seconds }).gives([
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

  it('judges targets and buyers as they are now, and the campaign as it was at the arrival', () => {
    const arrived = arrives(world).events
    const now = (...changes: readonly (readonly [AnyCommand, object])[]) => {
      const changed = changes.reduce(
        (events, [command, input]) => given(workspace, events).when(command, input).events,
        world.events,
      )
      return { reads: { ...world.reads, workspace: folded(workspace, changed) } }
    }
    const [pause] = changing.targetStatus('paused')
    fails(arrived, {}, now([pause, { targetId: world.targetId(1), status: 'paused' }])).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'paused' }] } },
    ])
    const [change] = changing.campaign({})
    const [reprice] = changing.target({})
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

  it('sees its own slot as free, of the buyer that both targets share', () => {
    const shared = callWorld(...second, changing.buyer({ concurrencyCap: 1, dailyCap: 1 }))
    fails(arrives(shared).events, {}, shared).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
  })

  it('passes over a target that was connected to the caller, as the ledger or the memory knows', () => {
    const windowed = callWorld(...anotherTarget(1, { dedupeWindowSeconds: 3_600 }, { priority: 200 }))
    const key = reachedKey(windowed.targetId(1), CALLER)
    const connected = (seconds: number) => ({
      [`caller-memory/${key}`]: { workspaceId: WORKSPACE, at: after(seconds), targetId: windowed.targetId(1) },
    })
    const fresh = arrives(windowed).events
    const spent = [{ type: 'ClaimReleased' }, { type: 'PlanSpent', data: { skipped: [{ reason: 'duplicate' }] } }]
    fails(fresh, {}, windowed, connected(25 - 3_599)).gives(spent)
    fails(fresh, {}, windowed, connected(25 - 3_600)).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
    const both = arrives(windowed, { callId: callOf(2) }, fresh).events
    const other = fails(both, { callId: callOf(2), seconds: 5 }, windowed)
    const answered = given(ledger, other.events).when(countAnswer, {
      callId: callOf(2),
      attempt: 2,
      occurredAt: after(8),
    })
    fails(answered.events, {}, windowed).gives(spent)
  })

  it('judges the tags that the call arrived with', () => {
    const tagFilters = [{ key: 'callerState', op: 'in', value: ['NY', 'TX'] }]
    const filtered = callWorld(...anotherTarget(1, { tagFilters }, { priority: 200 }))
    fails(arrives(world).events, {}, filtered).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'tag_filter', figures: { tag: 'CA' } }] } },
    ])
    const texan = arrives(world, { caller: '+15125550123' }).events
    fails(texan, {}, filtered).gives([{ type: 'ClaimReleased' }, { type: 'TargetClaimed' }])
  })

  it('keeps a slot that counted when it was claimed', () => {
    const counting = callWorld(...second, changing.target({ capCountsOn: 'claimed' }), changing.buyer({ dailyCap: 1 }))
    fails(arrives(counting).events, {}, counting).gives([
      { type: 'ClaimReleased' },
      { type: 'PlanSpent', data: { skipped: [{ reason: 'buyer_capped' }] } },
    ])
  })
})

describe('fail-over does nothing', () => {
  const once = fails(arrives(world).events).events
  const release = (events: readonly NewEvent[]) =>
    given(ledger, events).when(releaseCall, { callId: callOf(1), connected: false, occurredAt: after(30) }).events
  const answer = (events: readonly NewEvent[], attempt: number) =>
    given(ledger, events).when(countAnswer, { callId: callOf(1), attempt, occurredAt: after(30) }).events

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
