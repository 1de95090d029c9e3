import { describe, expect, it } from 'vitest'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { questionOf } from '../../../src/domain/routing/bids.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import {
  bidderSteps,
  callWorld,
  changeSteps,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given, NOW, stateOf } from '../../support/fixtures/spec.ts'

const DESTINATION = '+13125550188'
const offer = (amountCents: number, more: Json = {}) => ({
  accept: true,
  bid: { amountCents },
  destination: DESTINATION,
  ...more,
})

const highest = callWorld(changeSteps.campaign({ routingMode: 'highest_bid' }), ...bidderSteps(1), ...bidderSteps(2))
const turns = callWorld(...bidderSteps(1, { priority: 10 }), ...bidderSteps(2, { priority: 20 }))
type World = typeof highest

const targetOf = (world: World, n: number) => ({ id: world.targetId(n), name: `Bidder ${n}` })
const asksOf = (outcome: readonly NewEvent[] | Refusal) => (isRefusal(outcome) ? questionOf(outcome) : null)
const dataOf = (outcome: readonly NewEvent[] | Refusal): Json => (isRefusal(outcome) ? outcome : outcome[0]?.data)
const namesOf = (list: readonly Json[]) => list.map(({ targetName, reason }) => [targetName, reason])

describe('an arrival with bidders on the plan', () => {
  it('asks all that are eligible at once where the highest bid wins', () => {
    const question = asksOf(routeArrival(highest).outcome)
    expect(question).toMatchObject({
      targetIds: [highest.targetId(1), highest.targetId(2)],
      budgetMs: 90_000,
      round: 0,
      subject: { auction: { ref: 'CA-0000000001' }, at: NOW, isDisclosed: false, caller: { hash: null } },
    })
    const paused = callWorld(
      changeSteps.campaign({ routingMode: 'highest_bid' }),
      ...bidderSteps(1),
      ...bidderSteps(2),
      changeSteps.targetStatus('paused', 1),
    )
    expect(asksOf(routeArrival(paused).outcome)?.targetIds).toEqual([paused.targetId(2)])
  })

  it('orders the plan by bids and prices, and dials where the bid says', () => {
    const bids = [
      bidFrom(targetOf(highest, 1), offer(3_000), { latencyMs: 40 }),
      bidFrom(targetOf(highest, 2), offer(9_000, { durationSeconds: 45 }), { latencyMs: 300 }),
    ]
    const { arrival, plan, claim, skipped, ...rest } = dataOf(routeArrival(highest, { bids }).outcome)
    expect(plan.map(({ targetName, revenueCents }: Json) => [targetName, revenueCents])).toEqual([
      ['Bidder 2', 9_000],
      ['Front desk', 4_000],
      ['Bidder 1', 3_000],
    ])
    expect(claim).toMatchObject({
      target: { name: 'Bidder 2' },
      deliveryMode: 'pstn',
      destination: DESTINATION,
      callerId: arrival.caller,
      revenueCents: 9_000,
      durationThresholdSeconds: 45,
      bidId: bids[1]?.bidId,
      occurredAt: instantAfter(0.3),
      ringSeconds: 25,
    })
    expect([skipped, rest.bids]).toEqual([[], bids])
  })

  it('skips those that do not bid, wherever they stand', () => {
    const bids = [
      bidFrom(targetOf(highest, 1), { accept: false, reason: 'Full' }),
      bidFrom(targetOf(highest, 2), { ok: false, failure: 'timeout', sentence: '' }),
    ]
    const { claim, skipped } = dataOf(routeArrival(highest, { bids }).outcome)
    expect(claim).toMatchObject({ target: { name: 'Front desk' }, revenueCents: 4_000 })
    expect(namesOf(skipped)).toEqual([
      ['Bidder 1', 'no_bid'],
      ['Bidder 2', 'timeout'],
    ])
    expect(skipped[0]).toMatchObject({ sentence: 'Target Bidder 1 declined: Full.', figures: { httpStatus: 200 } })
  })

  it('skips a bid that names nothing to dial, and one that is over before the others have answered', () => {
    const bids = [
      bidFrom(targetOf(highest, 1), offer(9_000, { destination: 'nowhere' })),
      bidFrom(targetOf(highest, 2), offer(8_000, { expiresInSeconds: 0 })),
    ]
    const { claim, skipped } = dataOf(routeArrival(highest, { bids }).outcome)
    expect(claim.target.name).toBe('Front desk')
    expect(namesOf(skipped)).toEqual([
      ['Bidder 1', 'no_destination'],
      ['Bidder 2', 'no_bid'],
    ])
  })

  it('asks in turn in the other modes, until one bids', () => {
    const none = bidFrom(targetOf(turns, 1), {})
    expect(asksOf(routeArrival(turns).outcome)?.targetIds).toEqual([turns.targetId(1)])
    const next = asksOf(routeArrival(turns, { bids: [none] }).outcome)
    expect(next).toMatchObject({
      targetIds: [turns.targetId(2)],
      budgetMs: 90_000 - 20,
      subject: { at: none.answeredAt },
    })
    const bids = [none, bidFrom(targetOf(turns, 2), offer(100), { at: none.answeredAt })]
    const { claim, skipped } = dataOf(routeArrival(turns, { bids }).outcome)
    expect([claim.target.name, claim.occurredAt]).toEqual(['Bidder 2', instantAfter(0.04)])
    expect(namesOf(skipped)).toEqual([['Bidder 1', 'no_bid']])
  })

  it.each([
    [89_000, 'Front desk'],
    [89_001, null],
  ])('dials while a second of the failover budget is left: %s ms were spent on bidders', (latencyMs, name) => {
    const late = [1, 2].map((n) => bidFrom(targetOf(turns, n), {}, { latencyMs }))
    const { claim, unrouted } = dataOf(routeArrival(turns, { bids: late }).outcome)
    expect(claim?.target.name ?? null).toBe(name)
    if (name === null) {
      expect(unrouted).toMatchObject({
        reason: 'no_eligible_target',
        sentence:
          '3 targets on the plan of campaign Solar West, and none could take the call before the failover budget was spent.',
      })
    }
  })
})

describe('a failover with bidders on the plan', () => {
  const bids = [
    bidFrom(targetOf(highest, 1), offer(8_000), { latencyMs: 0 }),
    bidFrom(targetOf(highest, 2), offer(9_000), { latencyMs: 0 }),
  ]
  const begun = routeArrival(highest, { bids }).events
  const fails = (seconds: number, given_: readonly unknown[] = []) =>
    given(ledger, begun).when(
      failOver,
      {
        callId: nthCallId(1),
        attempt: 1,
        outcome: 'busy',
        occurredAt: instantAfter(seconds),
        ...(given_.length > 0 && { bids: given_ }),
      },
      { reads: { workspace: highest.reads.workspace } },
    )

  it('goes on at a bid that is alive', () => {
    const [, claimed] = fails(59.9).events.slice(-2)
    expect(claimed).toMatchObject({ type: 'TargetClaimed', data: { claim: { revenueCents: 8_000, attempt: 2 } } })
    expect(claimed?.data).not.toHaveProperty('bids')
  })

  it('asks anew where the bid has expired, and takes the new price', () => {
    const question = asksOf(fails(60).outcome)
    expect(question).toMatchObject({ targetIds: [highest.targetId(1)], budgetMs: 30_000, round: 1 })
    const fresh = bidFrom(targetOf(highest, 1), offer(5_000), { at: instantAfter(60), latencyMs: 500 })
    const [, claimed] = fails(60, [fresh]).events.slice(-2)
    expect(claimed).toMatchObject({
      type: 'TargetClaimed',
      data: {
        occurredAt: instantAfter(60.5),
        claim: { revenueCents: 5_000, occurredAt: instantAfter(60.5) },
        bids: [fresh],
        asked: { ref: 'CA-0000000001', campaign: { name: 'Solar West' } },
      },
    })
  })

  it('records bids of a call that was over before they came', () => {
    const released = given(ledger, begun).when(releaseCall, {
      callId: nthCallId(1),
      connected: false,
      occurredAt: instantAfter(61),
    }).events
    const fresh = bidFrom(targetOf(highest, 1), { ok: true, status: 500, body: '' }, { at: instantAfter(60) })
    const late = given(ledger, released).when(
      failOver,
      { callId: nthCallId(1), attempt: 1, outcome: 'busy', occurredAt: instantAfter(60), bids: [fresh] },
      { reads: { workspace: highest.reads.workspace } },
    )
    expect(late.events.at(-1)).toMatchObject({ type: 'BidsUnused', data: { bids: [fresh] } })
    expect(late.state.health.get(highest.targetId(1))).toMatchObject({
      consecutiveFailures: 1,
      isRequest: true,
      lastError: 'bid error (HTTP 500)',
    })
  })
})

describe('the health of a bidder', () => {
  const failed = (n: number) =>
    bidFrom(targetOf(turns, 1), { ok: true, status: 500, body: '' }, { at: instantAfter(n) })
  const routed = (before: readonly NewEvent[], n: number, first: ReturnType<typeof failed>) =>
    routeArrival(
      turns,
      {
        callId: nthCallId(n),
        occurredAt: instantAfter(n),
        bids: [first, bidFrom(targetOf(turns, 2), offer(100), { at: instantAfter(n) })],
      },
      before,
    ).events
  const times = (count: number) =>
    Array.from({ length: count }, (_, n) => n).reduce<readonly NewEvent[]>(
      (events, n) => routed(events, n, failed(n)),
      [],
    )
  const healthAfter = (events: readonly NewEvent[]) => stateOf(ledger, events).health.get(turns.targetId(1))

  it('gets worse with each failed request, and suppresses it at the fifth', () => {
    expect(healthAfter(times(2))).toMatchObject({ health: 'degraded', suppressedUntil: null })
    expect(healthAfter(times(4))).toMatchObject({ health: 'down', suppressedUntil: null })
    expect(healthAfter(times(5))).toMatchObject({ suppressedUntil: instantAfter(64.02) })
  })

  it('is good again after an answer, with a bid or without', () => {
    const declined = bidFrom(targetOf(turns, 1), { accept: false }, { at: instantAfter(9) })
    expect(healthAfter(routed(times(4), 9, declined))).toBeUndefined()
  })

  it('stays what its failed dials made it, though it answers', () => {
    const bid = bidFrom(targetOf(turns, 1), offer(500))
    const begun = routeArrival(turns, { bids: [bid] }).events
    const failedDial = given(ledger, begun).when(
      failOver,
      {
        callId: nthCallId(1),
        attempt: 1,
        outcome: 'busy',
        occurredAt: instantAfter(5),
        bids: [bidFrom(targetOf(turns, 2), offer(1))],
      },
      { reads: { workspace: turns.reads.workspace } },
    ).events
    expect(healthAfter(failedDial)).toMatchObject({ consecutiveFailures: 1 })
    const again = routeArrival(turns, { callId: nthCallId(2), bids: [bid] }, failedDial).events
    expect(healthAfter(again)).toMatchObject({ consecutiveFailures: 1, lastError: 'busy' })
  })
})
