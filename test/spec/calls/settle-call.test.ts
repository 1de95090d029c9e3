import { describe, expect, it } from 'vitest'
import { recordUsage } from '../../../commands/calls/record-usage.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { chargeUsage } from '../../../commands/money/charge-usage.ts'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { countSettlement } from '../../../commands/routing/count-settlement.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { usageReference, wallet } from '../../../src/domain/money/wallet.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  CREDITED,
  callEventsOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const callId = nthCallId(1)
const buffer = changeSteps.campaign({ bufferSeconds: 60 })
const over = (talk: number, ...steps: readonly SetupStep[]) =>
  callEventsOf(routeArrival(callWorld(buffer, ...steps)), noticeSteps.answer(1, 4), noticeSteps.end(4 + talk))
const settled = (events: readonly NewEvent[]) => given(call, events).when(settleCall, { callId })

describe('settle-call', () => {
  it('settles at the end of the buffer', () => {
    const { campaignId, publisherId, targetId, buyerId } = callWorld(buffer)
    settled(over(60)).gives([
      {
        type: 'CallSettled',
        data: {
          occurredAt: instantAfter(124),
          campaignId,
          publisherId,
          targetId: targetId(),
          buyerId,
          capCountsOn: 'connected',
          claimedAt: instantAfter(0),
          converted: true,
          source: 'duration',
          reason: 'duration',
          revenueCents: 4_000,
          payoutCents: 0,
          sentence: 'Converted: $40.00 revenue, $0.00 payout.',
        },
      },
    ])
  })

  it('computes the payout by the terms frozen at the arrival', () => {
    settled(over(60, changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 }))).gives([
      { type: 'CallSettled', data: { revenueCents: 4_000, payoutCents: 1_500 } },
    ])
    settled(over(60, changeSteps.lane({ payoutMode: 'revshare', revsharePct: 33.33, maxPayoutCents: 1_300 }))).gives([
      { type: 'CallSettled', data: { payoutCents: 1_300 } },
    ])
    settled(over(60, changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500, states: ['NY'] }))).gives([
      { type: 'CallSettled', data: { revenueCents: 4_000, payoutCents: 0 } },
    ])
  })

  it('books the route’s price, and 0 for a delivery target', () => {
    settled(over(60, changeSteps.route({ revenueOverrideCents: 9_900 }))).gives([
      { type: 'CallSettled', data: { revenueCents: 9_900 } },
    ])
    settled(
      over(60, changeSteps.target({ revenueCents: 0 }), changeSteps.route({ revenueOverrideCents: 9_900 })),
    ).gives([{ type: 'CallSettled', data: { converted: true, revenueCents: 0 } }])
  })

  it.each([
    [29, false, 'under_threshold:29s_of_30s'],
    [29.4, false, 'under_threshold:29s_of_30s'],
    [29.5, true, 'duration'],
    [30, true, 'duration'],
  ])('converts by %d seconds of talk against a threshold of 30: %j', (talk, converted, reason) => {
    settled(over(talk, changeSteps.target({ durationThresholdSeconds: 30 }))).gives([
      { type: 'CallSettled', data: { converted, reason, revenueCents: converted ? 4_000 : 0 } },
    ])
  })

  it('settle-call changes nothing before the end or the second time', () => {
    settled(settled(over(60)).events).gives([])
    settled(callEventsOf(routeArrival(callWorld(buffer)), noticeSteps.answer(1, 4))).gives([])
    settled(callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4), noticeSteps.end(64))).gives([])
    settled([]).gives([])
  })
})

describe('usage', () => {
  const due = { callId, amountCents: 6, at: instantAfter(244) }
  const charge = (before: readonly NewEvent[]) => given(wallet, before).when(chargeUsage, due)

  it('is charged once, under the call’s reference, at the instant at which it was due', () => {
    const charged = charge(CREDITED)
    charged.gives([
      {
        type: 'WalletCharged',
        data: {
          reference: usageReference(callId),
          kind: 'usage',
          callId,
          occurredAt: instantAfter(244),
          balanceCents: 99_994,
        },
      },
    ])
    charge(charged.events).gives([])
  })

  it('is recorded on the call once, in billed minutes', () => {
    const usage = { callId, usageCents: 6, occurredAt: instantAfter(244) }
    const received = given(call, over(61)).when(recordUsage, usage)
    received.gives([{ type: 'UsageCharged', data: { usageCents: 6, minutes: 2 } }])
    given(call, received.events).when(recordUsage, usage).gives([])
    given(call).when(recordUsage, usage).gives([])
  })
})

describe('count-settlement', () => {
  const world = callWorld(buffer, changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 }))
  const arrival = routeArrival(world)
  const books = settled(callEventsOf(arrival, noticeSteps.answer(1, 4), noticeSteps.end(64))).events.at(-1)?.data
  const count = (before: readonly NewEvent[], data = books) => given(ledger, before).when(countSettlement, data)
  const answer = [countAnswer, { callId, attempt: 1, occurredAt: instantAfter(4) }] as const
  const release = [releaseCall, { callId, connected: true, occurredAt: instantAfter(64) }] as const
  const answered = given(ledger, arrival.events).when(...answer).events
  const released = given(ledger, answered).when(...release).events

  it('counts revenue on target and buyer and payout on the lane, on the day of the settlement', () => {
    const counted = count(released)
    counted.gives([{ type: 'CallCounted', data: { revenueCents: 4_000, payoutCents: 1_500, converted: true } }])
    const centsOf = (kind: 'target' | 'buyer' | 'lane' | 'campaign', id: string) =>
      counterOf(counted.state, kind, id).cents.toObject()
    expect(centsOf('target', world.targetId())).toEqual({ '2026-03-10': 4_000 })
    expect(centsOf('buyer', world.buyerId)).toEqual({ '2026-03-10': 4_000 })
    expect(centsOf('lane', `${world.campaignId}:${world.publisherId}`)).toEqual({ '2026-03-10': 1_500 })
    expect(centsOf('campaign', world.campaignId)).toEqual({})
    expect(counted.state.calls.size).toBe(0)
  })

  it('appends a lost connection and release first', () => {
    count(answered).gives([{ type: 'CallReleased' }, { type: 'CallCounted' }])
    const caughtUp = count(arrival.events)
    caughtUp.gives([{ type: 'ClaimConnected' }, { type: 'CallReleased' }, { type: 'CallCounted' }])
    expect(caughtUp.state.counters).toEqual(count(released).state.counters)
  })

  it('count-settlement changes nothing the second time, or for a call that did not connect', () => {
    count(count(released).events).gives([])
    count([]).gives([])
    const missed = callEventsOf(arrival, noticeSteps.end(8)).at(-1)?.data
    count(arrival.events, missed).gives([])
  })

  it('is final: a late answer or release changes nothing', () => {
    const counted = count(arrival.events).events
    given(ledger, counted)
      .when(...answer)
      .gives([])
    given(ledger, counted)
      .when(...release)
      .gives([])
  })

  it('counts a released call that connected, though its answer was lost', () => {
    const late = given(ledger, arrival.events).when(...release)
    late.gives([{ type: 'ClaimConnected' }, { type: 'CallReleased' }])
    given(ledger, late.events)
      .when(...answer)
      .gives([])
    count(late.events).gives([{ type: 'CallCounted' }])
  })
})
