import { describe, expect, it } from 'vitest'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { capCounters } from '../../../projections/routing/cap-counters.ts'
import { healthOf } from '../../../queries/routing/usage-figures.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { healthAfterBid } from '../../../src/domain/routing/target-health.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import { anotherTarget, callWorld, instantAfter, nthCallId, routeArrival } from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, idOf, NOW, recordedEvents, stateOf } from '../../support/fixtures/spec.ts'

const world = callWorld(...anotherTarget(1, {}, { priority: 200 }))
const targetId = world.targetId()

/** The n-th call arrives a minute after the previous one, and its first dial fails after three seconds. */
function dials(
  before: readonly NewEvent[],
  n: number,
  { on = world, ...failed }: { on?: typeof world; outcome?: string; sipCode?: number; retryAfterSeconds?: number } = {},
) {
  const at = instantAfter(n * 60)
  const events = routeArrival(on, { callId: nthCallId(n), occurredAt: at }, before).events
  const input = { callId: nthCallId(n), attempt: 1, outcome: 'busy', ...failed, occurredAt: instantAfter(3, at) }
  return given(ledger, events).when(failOver, input, { reads: { workspace: on.reads.workspace } })
}
const failedTimes = (count: number, on = world) =>
  Array.from({ length: count }, (_, n) => n).reduce<readonly NewEvent[]>(
    (events, n) => dials(events, n, { on }).events,
    [],
  )
const connects = (before: readonly NewEvent[], n: number, at = instantAfter(n * 60)) => {
  const events = routeArrival(world, { callId: nthCallId(n), occurredAt: at }, before).events
  return given(ledger, events).when(countAnswer, { callId: nthCallId(n), attempt: 1, occurredAt: instantAfter(3, at) })
    .events
}
const typesOf = (events: readonly NewEvent[], type: string) => events.filter((event) => event.type === type)

describe('target health in the ledger', () => {
  it('skips a suppressed target, and dials it again at the end of the suppression', () => {
    const tripped = failedTimes(5)
    const arriving = (occurredAt: string) => routeArrival(world, { callId: nthCallId(90), occurredAt }, tripped).outcome
    // The fifth failed at 4:03.
    expect(arriving(instantAfter(243 + 20.5))).toMatchObject([
      {
        data: {
          skipped: [
            {
              targetId,
              reason: 'suppressed',
              sentence: 'Target Front desk is switched off for 40 more seconds after 5 failed dials in a row.',
              figures: { secondsLeft: 40, suppressedUntil: instantAfter(303), consecutiveFailures: 5 },
            },
          ],
          claim: { target: { name: 'Target 1' } },
        },
      },
    ])
    expect(arriving(instantAfter(302.999))).toMatchObject([
      { data: { skipped: [{ reason: 'suppressed', sentence: expect.stringContaining('for 1 more second after') }] } },
    ])
    expect(arriving(instantAfter(303))).toMatchObject([{ data: { skipped: [], claim: { target: { id: targetId } } } }])
    // A call dated before the fifth failure.
    expect(arriving(instantAfter(242.999))).toMatchObject([{ data: { skipped: [] } }])
  })

  it('skips a suppressed target at a failover', () => {
    const swapped = callWorld(...anotherTarget(1, {}, { priority: 1 }))
    const ringing = routeArrival(swapped, { callId: nthCallId(9) }).events
    const requests = dials(ringing, 1, { outcome: 'failed', sipCode: 503, retryAfterSeconds: 600 }).events
    const input = { callId: nthCallId(9), attempt: 1, outcome: 'busy', occurredAt: instantAfter(70) }
    given(ledger, requests)
      .when(failOver, input, { reads: { workspace: swapped.reads.workspace } })
      .gives([
        { type: 'ClaimReleased' },
        { type: 'PlanSpent', data: { skipped: [{ targetId, reason: 'suppressed' }] } },
      ])
  })

  it('records that a target went down once, at its third failure in a row, and again after a connection', () => {
    const two = failedTimes(2)
    expect(typesOf(two, 'TargetWentDown')).toEqual([])
    const third = dials(two, 2, { sipCode: 486 })
    third.gives([
      { type: 'ClaimReleased', data: { sipCode: 486 } },
      {
        type: 'TargetWentDown',
        data: {
          callId: nthCallId(2),
          occurredAt: instantAfter(123),
          attempt: 1,
          target: { id: targetId, name: 'Front desk' },
          externalRef: null,
          buyer: { id: world.buyerId, name: 'Solar Co' },
          outcome: 'busy',
          sipCode: 486,
          consecutiveFailures: 3,
          sentence: 'Target Front desk failed 3 dials in a row; the last one was busy (SIP 486).',
        },
      },
      { type: 'TargetClaimed' },
    ])
    const healed = connects(dials(third.events, 3).events, 4)
    expect(typesOf(healed, 'TargetWentDown')).toHaveLength(1)
    const again = [5, 6, 7, 8].reduce((events, n) => dials(events, n).events, healed)
    expect(typesOf(again, 'TargetWentDown')).toHaveLength(2)
  })

  it('ignores a caller who gives up, and a repeated failure', () => {
    const gone = given(ledger, routeArrival(world).events).when(
      failOver,
      { callId: nthCallId(1), attempt: 1, outcome: 'abandoned', occurredAt: instantAfter(9) },
      { reads: world.reads },
    )
    expect(gone.state.health.size).toBe(0)
    const once = dials([], 1)
    const received = { callId: nthCallId(1), attempt: 1, outcome: 'busy', occurredAt: instantAfter(63) }
    given(ledger, once.events).when(failOver, received, { reads: world.reads }).gives([])
  })

  it('counts a failure that is reported after the release of its call, once', () => {
    const two = failedTimes(2)
    const ringing = routeArrival(world, { callId: nthCallId(9), occurredAt: instantAfter(120) }, two).events
    const over = { callId: nthCallId(9), connected: false, occurredAt: instantAfter(123) }
    const released = given(ledger, ringing).when(releaseCall, over)
    const received = {
      callId: nthCallId(9),
      attempt: 1,
      outcome: 'failed',
      sipCode: 500,
      occurredAt: instantAfter(122),
    }
    const heard = given(ledger, released.events).when(failOver, received, { reads: world.reads })
    heard.gives([
      {
        type: 'TargetFailureCounted',
        data: { callId: nthCallId(9), attempt: 1, targetId, outcome: 'failed', sipCode: 500 },
      },
      { type: 'TargetWentDown', data: { outcome: 'failed' } },
    ])
    expect(heard.state.health.get(targetId)).toMatchObject({ health: 'down', consecutiveFailures: 3 })
    expect(heard.state.counters).toEqual(released.state.counters)
    given(ledger, heard.events).when(failOver, received, { reads: world.reads }).gives([])
  })

  it('does not report a bidding target as down, though it counts its failures', () => {
    const { workspace } = world.reads
    const bidding = workspace.targets.update(targetId, (old) => old && { ...old, type: 'rtb' as const })
    const last = given(ledger, routeArrival(world, { callId: nthCallId(9) }, failedTimes(2)).events).when(
      failOver,
      { callId: nthCallId(9), attempt: 1, outcome: 'busy', occurredAt: instantAfter(3) },
      { reads: { workspace: { ...workspace, targets: bidding } } },
    )
    expect(typesOf(last.events, 'TargetWentDown')).toEqual([])
    expect(last.state.health.get(targetId)).toMatchObject({ health: 'down' })
  })

  it('keeps the health of a target whose caps are reset', () => {
    const before = connects(failedTimes(0), 0)
    const failed = [1, 2, 3, 4, 5].reduce((events, n) => dials(events, n).events, before)
    const reset = given(ledger, failed).when(resetTargetCaps, { targetId }, { reads: world.reads })
    reset.gives([{ type: 'TargetCapsReset' }])
    expect(reset.state.health.get(targetId)).toMatchObject({
      consecutiveFailures: 5,
      suppressedUntil: instantAfter(363),
    })
  })
})

describe('target health in the projection', () => {
  const shown = async (events: readonly NewEvent[], now: string) => {
    const docs = await project(capCounters, recordedEvents(ledger, events))
    const doc = docs[`target:${targetId}`]
    return healthOf(new Map(doc ? [[targetId, capCounters.doc.parse(doc)]] : []), targetId, now)
  }

  it('equals that of the ledger, without a suppression that is over', async () => {
    const unknown = { health: 'unknown', lastError: null, consecutiveFailures: 0, suppressedUntil: null }
    expect(await shown([], NOW)).toEqual(unknown)
    expect(await shown(routeArrival(world).events, NOW)).toEqual(unknown)
    const tripped = failedTimes(5)
    const off = { health: 'down', lastError: 'busy', consecutiveFailures: 5, suppressedUntil: instantAfter(303) }
    expect(await shown(tripped, instantAfter(302.999))).toEqual(off)
    expect(await shown(tripped, instantAfter(303))).toEqual({ ...off, suppressedUntil: null })
    const state = stateOf(ledger, tripped)
    expect(state.health.get(targetId)).toEqual({ ...off, suppressedFrom: instantAfter(243) })
    expect(await shown(connects(tripped, 9, instantAfter(600)), instantAfter(700))).toEqual({
      health: 'healthy',
      lastError: 'busy',
      consecutiveFailures: 0,
      suppressedUntil: null,
    })
  })

  it('includes failures reported after the release of their call', async () => {
    const released = given(ledger, routeArrival(world).events).when(releaseCall, {
      callId: nthCallId(1),
      connected: false,
      occurredAt: instantAfter(9),
    })
    const received = { callId: nthCallId(1), attempt: 1, outcome: 'failed', sipCode: 503, occurredAt: instantAfter(8) }
    const heard = given(ledger, released.events).when(failOver, received, { reads: world.reads })
    expect(await shown(heard.events, instantAfter(9))).toEqual({
      health: 'degraded',
      lastError: 'failed (SIP 503)',
      consecutiveFailures: 1,
      suppressedUntil: instantAfter(38),
    })
  })
})

it('a bidder that was not asked neither fails nor ends a row of failed requests', () => {
  const bidder = { id: idOf(72), name: 'Bidder' }
  const failed = healthAfterBid(null, bidFrom(bidder, { ok: false, failure: 'timeout', sentence: '' }))
  const declined = bidFrom(bidder, { ok: true, status: 204, body: '' })
  expect(healthAfterBid(failed, { ...declined, httpStatus: null })).toEqual(failed)
  expect(healthAfterBid(null, { ...declined, httpStatus: null })).toBe(null)
  expect([failed, healthAfterBid(failed, declined)]).toMatchObject([
    { consecutiveFailures: 1 },
    { consecutiveFailures: 0 },
  ])
})
