import { describe, expect, it } from 'vitest'
import { call } from '../../../src/domain/calls/call.ts'
import { type FiredEvent, webhookEvents } from '../../../src/domain/delivery/webhook-events.ts'
import { firedByCall, firedByCap, firedByDown } from '../../../src/reactions/fired-events.ts'
import { callHistoryOf } from '../../../src/reactions/webhook-history.ts'
import { anotherTarget, CALLER, callWorld, changeSteps, DIALED, nthCallId } from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { NOW, recordedEvents } from '../../support/fixtures/spec.ts'

const world = callWorld()
const patient = callWorld(changeSteps.target({ durationThresholdSeconds: 30 }))
const second = callWorld(...anotherTarget(1, {}, { priority: 200 }))

function historyOf(script: CallScript, on = world) {
  return callHistoryOf(recordedEvents(call, playCalls(on, script).calls))
}

/** Everything that a call fires, event by event. */
function firedOf(script: CallScript, on = world): readonly FiredEvent[] {
  const history = historyOf(script, on)
  return history.flatMap((_event, at) => firedByCall(history.slice(0, at + 1)))
}

const namesOf = (fired: readonly FiredEvent[]) => fired.map(({ name }) => name)
const dataOf = (fired: readonly FiredEvent[], name: FiredEvent['name'], n = 0): object | undefined =>
  fired.filter((one) => one.name === name)[n]?.data

/** Histories of calls, and the events that each fires, in order. */
const HISTORIES: readonly (readonly [string, CallScript, typeof world, readonly string[]])[] = [
  [
    'a call that converts',
    {},
    world,
    ['call.incoming', 'call.routed', 'call.connected', 'call.completed', 'call.converted'],
  ],
  [
    'a call under its threshold',
    { overAfter: 5 },
    patient,
    ['call.incoming', 'call.routed', 'call.connected', 'call.completed'],
  ],
  [
    'a call that fails over',
    {
      dials: [
        ['busy', 2],
        ['answer', 3],
      ],
    },
    second,
    [
      'call.incoming',
      'call.routed',
      'call.failover',
      'call.routed',
      'call.connected',
      'call.completed',
      'call.converted',
    ],
  ],
  [
    'a call that no target answers',
    {
      dials: [
        ['busy', 2],
        ['no_answer', 20],
      ],
    },
    second,
    [
      'call.incoming',
      'call.routed',
      'call.failover',
      'call.routed',
      'call.failover',
      'call.unrouted',
      'call.completed',
    ],
  ],
  [
    'a caller who hangs up while a target rings',
    { dials: [], overAfter: 4 },
    world,
    ['call.incoming', 'call.routed', 'call.failover', 'call.completed'],
  ],
  [
    'a call that its gates refuse',
    { dials: [], overAfter: 1 },
    callWorld(changeSteps.campaign({ anonymousPolicy: 'block', states: ['NV'] })),
    ['call.incoming', 'call.unrouted', 'call.completed'],
  ],
]

describe('the events that a call fires', () => {
  it.each(HISTORIES)('are those of %s, in order', (_name, script, on, names) => {
    const fired = firedOf(script, on)
    expect(namesOf(fired)).toEqual(names)
    for (const { name, data } of fired) expect(webhookEvents[name].data.parse(data)).toEqual(data)
  })

  it('have the 26 fields of the core, with null for what the call lacks', () => {
    expect(dataOf(firedOf({}), 'call.incoming')).toEqual({
      callId: nthCallId(1),
      ref: 'CA-0000000001',
      status: 'routing',
      campaignId: expect.any(String),
      campaignName: 'Solar West',
      publisherId: expect.any(String),
      publisherName: 'Blue Leads',
      publisherRef: null,
      buyerId: null,
      buyerName: null,
      targetId: null,
      targetName: null,
      targetExternalRef: null,
      callerNumber: CALLER,
      callerState: 'CA',
      callerCity: null,
      callerZip: null,
      dialedNumber: DIALED,
      startedAt: NOW,
      answeredAt: null,
      endedAt: null,
      talkSeconds: 0,
      converted: false,
      revenueCents: 0,
      payoutCents: 0,
      tags: expect.objectContaining({ dialedNumber: DIALED, callerState: 'CA', publisher: 'Blue Leads' }),
    })
  })

  it('follow the call down its plan', () => {
    const fired = firedOf(
      {
        dials: [
          ['busy', 2],
          ['answer', 3],
        ],
      },
      second,
    )
    const routed = [dataOf(fired, 'call.routed'), dataOf(fired, 'call.routed', 1)]
    expect(routed).toMatchObject([
      { attemptNo: 1, targetName: 'Front desk', buyerName: 'Solar Co', status: 'ringing' },
      { attemptNo: 2, targetName: 'Target 1', status: 'ringing' },
    ])
    expect(dataOf(fired, 'call.failover')).toMatchObject({
      attemptNo: 1,
      targetName: 'Front desk',
      reason: 'busy',
      sipCode: 486,
      sentence: expect.stringContaining('busy'),
      nextTargetName: 'Target 1',
      nextTargetId: expect.any(String),
    })
    expect(dataOf(fired, 'call.connected')).toMatchObject({
      attemptNo: 2,
      talkSeconds: 0,
      answeredAt: expect.any(String),
    })
  })

  it('say that the plan is spent where no target is next', () => {
    const fired = firedOf(
      {
        dials: [
          ['busy', 2],
          ['no_answer', 20],
        ],
      },
      second,
    )
    expect(dataOf(fired, 'call.failover', 1)).toMatchObject({
      attemptNo: 2,
      reason: 'no_answer',
      sipCode: null,
      targetName: 'Target 1',
      nextTargetId: null,
      nextTargetName: null,
    })
    expect(dataOf(fired, 'call.unrouted')).toMatchObject({
      reason: 'all_targets_failed',
      action: 'hangup',
      status: 'rejected',
      buyerId: null,
      buyerName: null,
    })
    expect(dataOf(fired, 'call.completed')).toMatchObject({ reason: 'not_answered', revenueCents: 0 })
  })

  it('tell the books of a call that converted', () => {
    const fired = firedOf({})
    const books = {
      reason: 'duration',
      converted: true,
      talkSeconds: 60,
      status: 'completed',
      endedAt: expect.any(String),
    }
    expect(dataOf(fired, 'call.completed')).toMatchObject(books)
    expect(dataOf(fired, 'call.converted')).toMatchObject(books)
  })

  it('give the reason of a call under its threshold', () => {
    expect(dataOf(firedOf({ overAfter: 5 }, patient), 'call.completed')).toMatchObject({
      reason: 'under_threshold:5s_of_30s',
      converted: false,
      revenueCents: 0,
    })
  })
})

describe('a conversion after the settlement', () => {
  const settled = historyOf({ overAfter: 5 }, patient)
  const before = { converted: false, revenueCents: 0, payoutCents: 0 }
  const change = (books: object) => {
    const [last] = settled.slice(-1)
    const data = {
      callId: nthCallId(1),
      occurredAt: NOW,
      settledAt: NOW,
      change: 1,
      campaignId: null,
      publisherId: null,
      claim: null,
      sentence: '',
      revenueCents: 900,
      payoutCents: 0,
      before,
      note: null,
      ...books,
    }
    return firedByCall([...settled, ...callHistoryOf(last ? [{ ...last, type: 'BooksChanged', data }] : [])])
  }

  it('fires call.converted alone, with the reason of the books', () => {
    const fired = change({ converted: true, source: 'postback', reason: 'postback' })
    expect(fired).toMatchObject([{ name: 'call.converted', data: { reason: 'postback', revenueCents: 900 } }])
  })

  it('gives the note that a person typed', () => {
    const books = { converted: true, source: 'manual', reason: 'manual', note: 'The buyer confirmed it.' }
    expect(change(books)).toMatchObject([{ data: { reason: 'The buyer confirmed it.' } }])
    // A call that had talked long enough, was taken back, and is marked again.
    const again = { ...books, source: 'duration', reason: 'duration' }
    expect(change(again)).toMatchObject([{ data: { reason: 'The buyer confirmed it.' } }])
  })

  it('fires nothing when the call converted before, or no longer does', () => {
    expect(
      change({ converted: true, source: 'manual', reason: 'manual', before: { ...before, converted: true } }),
    ).toEqual([])
    expect(
      change({ converted: false, source: null, reason: 'manual', before: { ...before, converted: true } }),
    ).toEqual([])
  })
})

describe('the events about targets', () => {
  const about = {
    callId: nthCallId(1),
    occurredAt: NOW,
    target: { id: '0190a000-0000-7000-8000-0000000000aa', name: 'Night desk' },
    externalRef: 'night-1',
    buyer: { id: '0190a000-0000-7000-8000-0000000000bb', name: 'Night Co' },
  }
  const named = { targetName: 'Night desk', targetExternalRef: 'night-1', buyerName: 'Night Co', ref: 'CA-0000000001' }

  it.each([
    ['a call cap', 'target', 'daily', { cap: 5, count: 5 }],
    ['a revenue cap', 'buyer', 'daily revenue', { capCents: 5_000, cents: 6_000 }],
  ] as const)('tell %s with its figures', (_name, scope, window, figures) => {
    const [fired] = firedByCap({ ...about, scope, window, countedAt: NOW, figures }, historyOf({}))
    expect(fired).toMatchObject({ name: 'target.capped', data: { ...named, scope, window, ...figures } })
    expect(webhookEvents['target.capped'].data.parse(fired?.data)).toEqual(fired?.data)
  })

  it('tell the third failure of a target', () => {
    const down = { attempt: 1, outcome: 'busy', sipCode: 486, consecutiveFailures: 3, sentence: 'It failed.' } as const
    const [fired] = firedByDown({ ...about, ...down }, historyOf({}))
    expect(fired).toMatchObject({
      name: 'target.down',
      data: { ...named, reason: 'busy', consecutiveFailures: 3, sentence: 'It failed.' },
    })
    expect(webhookEvents['target.down'].data.parse(fired?.data)).toEqual(fired?.data)
  })
})
