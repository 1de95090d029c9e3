import { describe, expect, it } from 'vitest'
import { recordPlanSpent } from '../../../commands/calls/record-plan-spent.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import {
  callEventsOf,
  callStateOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const world = callWorld()
const ends = (arrival: ReturnType<typeof routeArrival>, ...steps: Parameters<typeof callEventsOf>[1][]) => {
  const [last, ...before] = steps.toReversed()
  if (!last) throw new Error('A call ends by a command.')
  return given(call, callEventsOf(arrival, ...before.toReversed())).when(...last)
}

/** A call whose only target failed, so that it is unrouted and hung up. */
function failedBy(outcome: string, ...steps: readonly SetupStep[]) {
  const world = callWorld(...steps)
  const arrival = routeArrival(world)
  const failure = noticeSteps.failure(1, outcome, 20)
  const spent = given(ledger, arrival.events).when(failOver, failure[1], {
    reads: { workspace: world.reads.workspace },
  }).outcome
  const data = isRefusal(spent) ? null : spent.find(({ type }) => type === 'PlanSpent')?.data
  return ends(arrival, failure, [recordPlanSpent, data ?? {}], noticeSteps.end(21, { hungUpBy: 'platform' }))
}

describe('the end of an answered call', () => {
  it('is completed, with talk and ring seconds and the due instants', () => {
    ends(routeArrival(world), noticeSteps.answer(1, 4), noticeSteps.end(65.5, { hungUpBy: 'agent' })).gives([
      {
        type: 'CallEnded',
        data: {
          status: 'completed',
          outcome: 'connected',
          hungUpBy: 'agent',
          connected: true,
          recorded: true,
          talkSeconds: 62,
          ringSeconds: 4,
          campaignId: world.campaignId,
          publisherId: world.publisherId,
          target: { name: 'Front desk' },
          buyer: { name: 'Solar Co' },
          sentence: 'The buyer hung up after 62 seconds of talk.',
          settlesAt: instantAfter(65.5),
          usageCents: 6,
          usageDueAt: instantAfter(185.5),
        },
      },
      { type: 'CallSettled', data: { occurredAt: instantAfter(65.5), converted: true, revenueCents: 4_000 } },
    ])
  })

  it('does not settle before the end of the buffer', () => {
    const buffered = callWorld(changeSteps.campaign({ bufferSeconds: 300 }))
    ends(routeArrival(buffered), noticeSteps.answer(1, 4), noticeSteps.end(64)).gives([
      { type: 'CallEnded', data: { settlesAt: instantAfter(364), usageDueAt: instantAfter(184) } },
    ])
    const lane = callWorld(changeSteps.campaign({ bufferSeconds: 300 }), changeSteps.lane({ bufferSeconds: 10 }))
    ends(routeArrival(lane), noticeSteps.answer(1, 4), noticeSteps.end(64)).gives([
      { type: 'CallEnded', data: { settlesAt: instantAfter(74) } },
    ])
  })

  it('has no usage without talk time', () => {
    ends(routeArrival(world), noticeSteps.answer(1, 4), noticeSteps.end(4.2)).gives([
      { type: 'CallEnded', data: { talkSeconds: 0, usageCents: 0, usageDueAt: null, status: 'completed' } },
      { type: 'CallSettled', data: { converted: true } },
    ])
  })

  it(`is terminated when the platform ends a stuck call (${documentCode('status: terminated')})`, () => {
    ends(
      routeArrival(world),
      noticeSteps.answer(1, 4),
      noticeSteps.end(64, { terminated: true, hungUpBy: 'platform' }),
    ).gives([
      { type: 'CallEnded', data: { status: 'terminated', outcome: 'connected', talkSeconds: 60 } },
      { type: 'CallSettled' },
    ])
  })
})

describe('the end of a call whose caller gives up', () => {
  it('abandons the dial that is ringing', () => {
    ends(routeArrival(world), noticeSteps.end(8)).gives([
      {
        type: 'TargetFailed',
        data: {
          attempt: 1,
          outcome: 'abandoned',
          rangSeconds: 8,
          sentence: 'The caller hung up after 8 seconds, while Front desk was ringing.',
        },
      },
      {
        type: 'CallEnded',
        data: {
          status: 'abandoned',
          outcome: 'missed',
          connected: false,
          recorded: false,
          talkSeconds: 0,
          ringSeconds: 8,
          buyer: { name: 'Solar Co' },
          usageDueAt: null,
        },
      },
      { type: 'CallSettled', data: { reason: 'not_answered', targetId: null, converted: false } },
    ])
  })

  it('is not reported as the caller’s when the platform ends the call', () => {
    const sentence = 'The platform ended the call after 8 seconds, while Front desk was ringing.'
    ends(routeArrival(world), noticeSteps.end(8, { hungUpBy: 'platform', terminated: true })).gives([
      { type: 'TargetFailed', data: { outcome: 'abandoned', sentence } },
      { type: 'CallEnded', data: { status: 'terminated', sentence: 'The platform ended the call.' } },
      { type: 'CallSettled' },
    ])
  })

  it('is abandoned also between two dials', () => {
    ends(routeArrival(world), noticeSteps.failure(1, 'busy', 5), noticeSteps.end(6)).gives([
      { type: 'CallEnded', data: { status: 'abandoned', outcome: 'missed', ringSeconds: 5 } },
      { type: 'CallSettled' },
    ])
  })

  it('settles at once, without a buffer', () => {
    const buffered = callWorld(changeSteps.campaign({ bufferSeconds: 300 }))
    ends(routeArrival(buffered), noticeSteps.end(8)).gives([
      { type: 'TargetFailed' },
      { type: 'CallEnded', data: { settlesAt: instantAfter(8) } },
      { type: 'CallSettled', data: { occurredAt: instantAfter(8) } },
    ])
  })
})

describe('the end of a call that no target took', () => {
  const forwards = changeSteps.campaign({ unroutedAction: 'forward', unroutedForwardE164: '+14155550188' })

  it.each(['no_answer', 'busy', 'rejected', 'failed'])('has the status of its last attempt: %s', (outcome) => {
    failedBy(outcome).gives([
      { type: 'CallEnded', data: { status: outcome, outcome: 'unrouted', connected: false, buyer: null } },
      { type: 'CallSettled', data: { reason: 'not_answered', revenueCents: 0, payoutCents: 0 } },
    ])
  })

  it('names the last target', () => {
    failedBy('busy').gives([{ type: 'CallEnded', data: { target: { name: 'Front desk' } } }, { type: 'CallSettled' }])
  })

  it('is rejected when the call was forwarded, and books nothing', () => {
    failedBy('busy', forwards).gives([
      { type: 'CallEnded', data: { status: 'rejected', talkSeconds: 0, usageDueAt: null } },
      { type: 'CallSettled', data: { reason: 'not_answered', revenueCents: 0 } },
    ])
  })

  it.each([
    ['by a gate', routeArrival(callWorld(changeSteps.campaign({ anonymousPolicy: 'block' })), { caller: null })],
    ['by every skip', routeArrival(callWorld(changeSteps.target({ states: ['NY'] })))],
    ['by every skip, and forwarded', routeArrival(callWorld(forwards, changeSteps.target({ states: ['NY'] })))],
  ])('is rejected when the call was refused %s', (_by, arrival) => {
    ends(arrival, noticeSteps.end(2)).gives([
      {
        type: 'CallEnded',
        data: { status: 'rejected', outcome: 'unrouted', target: null, buyer: null, ringSeconds: 0, usageDueAt: null },
      },
      { type: 'CallSettled', data: { reason: 'no_buyer', converted: false, targetId: null } },
    ])
  })
})

describe('end-call', () => {
  it('end-call changes nothing the second time, and is refused before the arrival', () => {
    const over = callEventsOf(routeArrival(world), noticeSteps.answer(1, 4), noticeSteps.end(64))
    given(call, over)
      .when(...noticeSteps.end(64))
      .gives([])
    given(call, over)
      .when(...noticeSteps.end(90, { terminated: true }))
      .gives([])
    given(call)
      .when(...noticeSteps.end(64))
      .gives({ refused: 'call-not-found' })
  })

  it('is final: a late answer or failure changes nothing', () => {
    const over = callEventsOf(routeArrival(world), noticeSteps.end(8))
    given(call, over)
      .when(...noticeSteps.answer(1, 7))
      .gives([])
    given(call, over)
      .when(...noticeSteps.failure(1, 'busy', 7))
      .gives([])
    expect(callStateOf(over)).toMatchObject({ answeredAt: null, ended: { connected: false }, settled: { changes: 0 } })
  })
})
