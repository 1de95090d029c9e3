import { describe, expect, it } from 'vitest'
import { recordArrival } from '../../../commands/calls/record-arrival.ts'
import { recordDial } from '../../../commands/calls/record-dial.ts'
import { recordPlanSpent } from '../../../commands/calls/record-plan-spent.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { answeredAttempt, call, ringingAttempt, secondsBetween } from '../../../src/domain/calls/call.ts'
import { endedSentence, failureSentence, settledSentence } from '../../../src/domain/calls/call-sentences.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { formatDollars } from '../../../src/domain/shared/format.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import {
  anotherTarget,
  callEventsOf,
  callStateOf,
  callWorld,
  changeSteps,
  decisionEvent,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given, NOW } from '../../support/fixtures/spec.ts'

const world = callWorld(...anotherTarget(1, {}, { priority: 200 }))
const arrival = routeArrival(world)
const begun = callEventsOf(arrival)

/** The ledger's events after the first and the second failed dial. */
const failed = given(ledger, arrival.events).when(
  failOver,
  { callId: nthCallId(1), attempt: 1, outcome: 'busy', occurredAt: instantAfter(5) },
  { reads: { workspace: world.reads.workspace } },
)
const spent = given(ledger, failed.events).when(
  failOver,
  { callId: nthCallId(1), attempt: 2, outcome: 'no_answer', occurredAt: instantAfter(30) },
  { reads: { workspace: world.reads.workspace } },
)
const saidBy = ({ outcome }: Pick<typeof failed, 'outcome'>, type: string): unknown =>
  isRefusal(outcome) ? null : outcome.find((event) => event.type === type)?.data
const nextDial = saidBy(failed, 'TargetClaimed')
const planSpent = saidBy(spent, 'PlanSpent')

const failedOnce = callEventsOf(arrival, noticeSteps.failure(1, 'busy', 5, 486))
const dialledTwice = given(call, failedOnce).when(recordDial, nextDial).events
const answeredOnce = callEventsOf(arrival, noticeSteps.answer(1, 4))
const ended = callEventsOf(arrival, noticeSteps.end(10))

describe('record-arrival', () => {
  it('begins the call with its arrival and its first dial', () => {
    given(call)
      .when(recordArrival, decisionEvent(arrival).data)
      .gives([
        {
          type: 'CallArrived',
          data: {
            arrival: { callId: nthCallId(1) },
            gates: { failed: null },
            plan: [{ name: 'Front desk' }, { name: 'Target 1' }],
          },
        },
        {
          type: 'TargetDialed',
          data: { carrierCallId: 'carrier-1', recordCall: true, claim: { attempt: 1 }, occurredAt: NOW, skipped: [] },
        },
      ])
    expect(ringingAttempt(callStateOf(begun))?.claim.target.name).toBe('Front desk')
  })

  it('begins a call that no target can take, or that is refused, as unrouted', () => {
    const empty = callWorld(changeSteps.target({ states: ['NY'] }))
    given(call)
      .when(recordArrival, decisionEvent(routeArrival(empty)).data)
      .gives([
        { type: 'CallArrived' },
        { type: 'CallUnrouted', data: { unrouted: { reason: 'no_eligible_target' }, skipped: [{ reason: 'state' }] } },
      ])
    const shut = callWorld(changeSteps.campaign({ anonymousPolicy: 'block' }))
    given(call)
      .when(recordArrival, decisionEvent(routeArrival(shut, { caller: null })).data)
      .gives([
        { type: 'CallArrived', data: { gates: { failed: 'anonymous_caller' }, plan: [] } },
        {
          type: 'CallUnrouted',
          data: { carrierCallId: 'carrier-1', unrouted: { reason: 'anonymous_blocked' }, skipped: [] },
        },
      ])
  })

  it('record-arrival changes nothing the second time', () => {
    given(call, begun).when(recordArrival, decisionEvent(arrival).data).gives([])
    given(call, ended).when(recordArrival, decisionEvent(arrival).data).gives([])
  })
})

describe('record-dial', () => {
  it('dials what the ledger claimed', () => {
    given(call, failedOnce)
      .when(recordDial, nextDial)
      .gives([
        {
          type: 'TargetDialed',
          data: { carrierCallId: 'carrier-1', recordCall: true, occurredAt: instantAfter(5), claim: { attempt: 2 } },
        },
      ])
  })

  it.each([
    ['twice', dialledTwice],
    [
      'of an attempt that has ended already',
      given(call, dialledTwice).when(...noticeSteps.failure(2, 'busy', 20)).events,
    ],
    ['while another rings', begun],
    ['when a buyer has answered', answeredOnce],
    ['when the call has ended', callEventsOf(arrival, noticeSteps.failure(1, 'busy', 5), noticeSteps.end(6))],
    ['before the call has arrived', []],
  ])('does nothing %s', (_when, events) => {
    given(call, events).when(recordDial, nextDial).gives([])
  })
})

describe('record-plan-spent', () => {
  const failedTwice = given(call, dialledTwice).when(...noticeSteps.failure(2, 'no_answer', 30)).events
  const unrouted = given(call, failedTwice).when(recordPlanSpent, planSpent)

  it('records that the call is unrouted', () => {
    unrouted.gives([
      {
        type: 'CallUnrouted',
        data: { carrierCallId: 'carrier-1', unrouted: { reason: 'all_targets_failed', action: 'hangup' }, skipped: [] },
      },
    ])
  })

  it.each([
    ['twice', unrouted.events],
    ['when a buyer has answered', answeredOnce],
    ['when the call has ended', ended],
    ['before the call has arrived', []],
  ])('does nothing %s', (_when, events) => {
    given(call, events).when(recordPlanSpent, planSpent).gives([])
  })
})

describe('record-answer', () => {
  it('records who answered, and after how long', () => {
    const { state, ...taken } = given(call, begun).when(...noticeSteps.answer(1, 4.5, true))
    taken.gives([
      {
        type: 'TargetAnswered',
        data: {
          attempt: 1,
          target: { name: 'Front desk' },
          buyer: { name: 'Solar Co' },
          rangSeconds: 5,
          whisperAccepted: true,
        },
      },
    ])
    expect(state).toMatchObject({ answeredAt: instantAfter(4.5), attempts: [{ outcome: 'answered', rangSeconds: 5 }] })
    expect(state && answeredAttempt(state)?.claim.attempt).toBe(1)
    expect(state && ringingAttempt(state)).toBeNull()
  })

  it.each([
    ['twice', answeredOnce, 1],
    ['after the failure', failedOnce, 1],
    ['late, while the next one rings', dialledTwice, 1],
    ['of an attempt that has not been made', begun, 2],
    ['after the end', ended, 1],
  ])('does nothing %s', (_when, events, attempt) => {
    given(call, events)
      .when(...noticeSteps.answer(attempt, 20))
      .gives([])
  })

  it('is refused before the arrival, so that the notice is repeated', () => {
    given(call)
      .when(...noticeSteps.answer(1, 20))
      .gives({ refused: 'call-not-found' })
  })
})

describe('record-failure', () => {
  it('records the outcome of the dial with its sentence', () => {
    given(call, begun)
      .when(...noticeSteps.failure(1, 'busy', 5, 486))
      .gives([
        {
          type: 'TargetFailed',
          data: {
            attempt: 1,
            outcome: 'busy',
            sipCode: 486,
            rangSeconds: 5,
            target: { name: 'Front desk' },
            sentence: 'Front desk was busy (SIP 486).',
          },
        },
      ])
  })

  it.each([
    ['twice', failedOnce, 1],
    ['after the answer', answeredOnce, 1],
    ['late, while the next one rings', dialledTwice, 1],
    ['of an attempt that has not been made', begun, 2],
    ['after the end', ended, 1],
  ])('does nothing %s', (_when, events, attempt) => {
    given(call, events)
      .when(...noticeSteps.failure(attempt, 'no_answer', 25))
      .gives([])
  })

  it('is refused before the arrival, so that the notice is repeated', () => {
    given(call)
      .when(...noticeSteps.failure(1, 'no_answer', 25))
      .gives({ refused: 'call-not-found' })
  })
})

describe('secondsBetween', () => {
  it.each([
    [0.499, 0],
    [0.5, 1],
    [59.5, 60],
    [-3, 0],
  ])('%d seconds are %d', (seconds, whole) => {
    expect(secondsBetween(NOW, instantAfter(seconds))).toBe(whole)
  })
})

describe('sentences of a call', () => {
  it.each([
    ['no_answer', 25, null, 'Desk did not answer in 25 seconds.'],
    ['no_answer', 1, 480, 'Desk did not answer in 1 second (SIP 480).'],
    ['rejected', 3, 603, 'Desk rejected the call (SIP 603).'],
    ['failed', 0, 503, 'The call to Desk failed (SIP 503).'],
    ['abandoned', 8, null, 'The caller hung up after 8 seconds, while Desk was ringing.'],
  ] as const)('of a failed dial: %s', (outcome, rang, sipCode, sentence) => {
    expect(failureSentence('Desk', outcome, rang, sipCode)).toBe(sentence)
  })

  it('of its end name who ended it and the talk time', () => {
    expect(endedSentence('agent', 61, true)).toBe('The buyer hung up after 61 seconds of talk.')
    expect(endedSentence('caller', 0, false)).toBe('The caller hung up.')
    expect(endedSentence('platform', 1, true)).toBe('The platform ended the call after 1 second of talk.')
  })

  it('of its books name the figures', () => {
    const books = { converted: true, revenueCents: 4_000, payoutCents: 1_250, reason: 'duration' }
    expect(settledSentence(books)).toBe('Converted: $40.00 revenue, $12.50 payout.')
    const none = { converted: false, revenueCents: 0, payoutCents: 0 }
    expect(settledSentence({ ...none, reason: 'under_threshold:1s_of_30s' })).toBe(
      'Not converted: 1 second of talk, and 30 are needed.',
    )
    expect(settledSentence({ ...none, reason: 'no_buyer' })).toBe('Nothing to book: no buyer answered.')
    expect([formatDollars(5), formatDollars(-1_205)]).toEqual(['$0.05', '-$12.05'])
  })
})
