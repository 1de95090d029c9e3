import { describe, expect, it } from 'vitest'
import { adjustCall } from '../../../commands/calls/adjust-call.ts'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { ADJUSTMENT, CALL } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  callEventsOf,
  callStateOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { BY_KEY, given, mintedId } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const callId = nthCallId(1)
const strict = changeSteps.target({ durationThresholdSeconds: 30 })
const share = changeSteps.lane({ payoutMode: 'revshare', revsharePct: 50 })
const lasting = (talk: number, ...steps: readonly SetupStep[]) =>
  callEventsOf(routeArrival(callWorld(strict, share, ...steps)), noticeSteps.answer(1, 4), noticeSteps.end(4 + talk))
const converted = lasting(60)
const short = lasting(10)
const adjust = (events: readonly NewEvent[], sent: object, more: object = BY_KEY) =>
  given(call, events).when(adjustCall, { callId, reason: 'Agreed', ...sent }, { at: instantAfter(100), ...more })
const was = { converted: true, revenueCents: 4_000, payoutCents: 2_000 }

describe('adjust-call', () => {
  it('sets the named figures, computes the others, and records the figures before and after', () => {
    const is = { converted: true, revenueCents: 1_000, payoutCents: 500 }
    adjust(converted, { revenueCents: 1_000 }).gives([
      {
        type: 'CallAdjusted',
        data: {
          ref: 'CA-0000000001',
          occurredAt: instantAfter(100),
          adjustmentId: mintedId(0),
          source: 'key',
          before: was,
          after: is,
          reason: 'Agreed',
          corrections: { revenueCents: 1_000 },
        },
      },
      { type: 'BooksChanged', data: { before: was, ...is, source: 'duration', reason: 'duration', note: 'Agreed' } },
    ])
    adjust(converted, { revenueCents: 1_000, payoutCents: 1_100 }, {}).gives([
      { type: 'CallAdjusted', data: { source: 'user', after: { revenueCents: 1_000, payoutCents: 1_100 } } },
      { type: 'BooksChanged' },
    ])
  })

  it('removes and adds a conversion', () => {
    const back = { converted: false, revenueCents: 0, payoutCents: 0, source: null, reason: 'manual' }
    adjust(converted, { converted: false }).gives([{ type: 'CallAdjusted' }, { type: 'BooksChanged', data: back }])
    adjust(short, { converted: true }).gives([
      { type: 'CallAdjusted' },
      { type: 'BooksChanged', data: { ...was, source: 'manual', reason: 'manual' } },
    ])
  })

  it('adds to earlier corrections; each stays until it is set again', () => {
    const first = adjust(converted, { revenueCents: 1_000 })
    const second = adjust(first.events, { payoutCents: 50 })
    second.gives([
      { type: 'CallAdjusted', data: { corrections: { revenueCents: 1_000, payoutCents: 50 } } },
      { type: 'BooksChanged', data: { change: 2, before: { payoutCents: 500 }, revenueCents: 1_000, payoutCents: 50 } },
    ])
    const third = adjust(second.events, { revenueCents: 9_000 })
    third.gives([
      { type: 'CallAdjusted', data: { corrections: { revenueCents: 9_000, payoutCents: 50 } } },
      { type: 'BooksChanged', data: { change: 3, revenueCents: 9_000, payoutCents: 50 } },
    ])
    given(call, third.events)
      .when(postConversion, { callId, converted: true, revenueCents: 1 }, { at: instantAfter(100) })
      .gives([{ type: 'ConversionPosted' }])
  })

  it('before the settlement is recorded, and the call settles by it', () => {
    const buffered = lasting(60, changeSteps.campaign({ bufferSeconds: 60 }))
    const adjusted = adjust(buffered, { payoutCents: 7 })
    adjusted.gives([{ type: 'CallAdjusted', data: { before: was, after: { revenueCents: 4_000, payoutCents: 7 } } }])
    given(call, adjusted.events)
      .when(settleCall, { callId })
      .gives([{ type: 'CallSettled', data: { converted: true, revenueCents: 4_000, payoutCents: 7 } }])
  })

  it('sets figures of a call that did not connect, but does not convert it', () => {
    const missed = callEventsOf(routeArrival(callWorld()), noticeSteps.end(8))
    adjust(missed, { payoutCents: 7 }).gives([
      { type: 'CallAdjusted' },
      { type: 'BooksChanged', data: { claim: null, converted: false, payoutCents: 7 } },
    ])
    adjust(missed, { converted: true }).gives({ refused: 'conflict' })
  })

  it('is refused when no figure changes or is named', () => {
    adjust(converted, {}).gives({ refused: 'bad-request' })
    adjust(converted, was).gives({ refused: 'bad-request', details: was })
    adjust(short, { converted: false, payoutCents: 0 }).gives({ refused: 'bad-request' })
  })

  it('is refused for a live call and for a call of another workspace', () => {
    const live = callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4))
    adjust(live, { revenueCents: 5 }).gives({ refused: 'conflict', details: { outcome: 'live' } })
    adjust(live, {}).gives({ refused: 'bad-request' })
    adjust([], { revenueCents: 5 }).gives({ refused: 'call-not-found' })
    adjust(converted, { revenueCents: 5 }, { workspaceId: nthCallId(9) }).gives({ refused: 'call-not-found' })
  })

  it('is idempotent by command', () => {
    const { events } = adjust(converted, { revenueCents: 5 })
    const itself = events.findIndex(({ type }) => type === 'CallAdjusted')
    adjust(events, { revenueCents: 5 }, { commandId: `command-${itself}` }).gives([])
    adjust(events, { revenueCents: 6 }, { commandId: `command-${itself}` }).gives([])
  })

  it('is accepted fifty times per call', () => {
    const times = (count: number) =>
      Array.from({ length: count }).reduce<readonly NewEvent[]>(
        (events, _, n) => adjust(events, { revenueCents: n }).events,
        converted,
      )
    const all = times(ADJUSTMENT.max)
    expect(callStateOf(all)).toMatchObject({ settled: { revenueCents: 49, changes: 50 } })
    adjust(all, { revenueCents: 99 }).gives({ refused: 'adjustment-limit', details: { limit: 50 } })
    adjust(all, { revenueCents: 49 }).gives({ refused: 'bad-request' })
  })

  it.each([
    ['revenueCents', { revenueCents: CALL.figureCents + 1 }],
    ['payoutCents', { payoutCents: -1 }],
    ['payoutCents', { payoutCents: '5' }],
    ['converted', { converted: 'true' }],
    ['reason', { reason: '' }],
    ['reason', { reason: '   ' }],
    ['reason', { reason: 'x'.repeat(ADJUSTMENT.reason + 1) }],
    ['reason', { reason: undefined }],
  ])('refuses invalid input: %s in %j', (field, sent) => {
    const parsed = adjustCall.input.safeParse({ callId, reason: 'Agreed', ...sent })
    expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual([field])
  })

  it('accepts figures and reasons of the maximum size', () => {
    const most = {
      revenueCents: CALL.figureCents,
      payoutCents: CALL.figureCents,
      reason: 'x'.repeat(ADJUSTMENT.reason),
    }
    adjust(converted, most).gives([{ type: 'CallAdjusted' }, { type: 'BooksChanged' }])
    adjust(converted, { revenueCents: 0, payoutCents: 0 }).gives([{ type: 'CallAdjusted' }, { type: 'BooksChanged' }])
  })
})
