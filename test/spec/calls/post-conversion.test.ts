import { describe, expect, it } from 'vitest'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { CALL, CONVERSION } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
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
import { BY_KEY, given } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const callId = nthCallId(1)
const strict = changeSteps.target({ durationThresholdSeconds: 30 })
const buffer = changeSteps.campaign({ bufferSeconds: 60 })
const share = changeSteps.lane({ payoutMode: 'revshare', revsharePct: 50 })
const END = 14
/** A call with ten seconds of talk, twenty below the threshold. */
const short = (...steps: readonly SetupStep[]) =>
  callEventsOf(routeArrival(callWorld(strict, ...steps)), noticeSteps.answer(1, 4), noticeSteps.end(END))
const long = (...steps: readonly SetupStep[]) =>
  callEventsOf(routeArrival(callWorld(strict, ...steps)), noticeSteps.answer(1, 4), noticeSteps.end(44))
const post = (events: readonly NewEvent[], sent: object = {}, at = instantAfter(100), more: object = BY_KEY) =>
  given(call, events).when(postConversion, { callId, converted: true, ...sent }, { at, ...more })
const before = { converted: false, revenueCents: 0, payoutCents: 0 }

describe('post-conversion', () => {
  it('converts a settled call at the frozen price, on the day of its settlement', () => {
    const { campaignId, publisherId, targetId, buyerId } = callWorld(strict, share)
    const changed = { converted: true, revenueCents: 4_000, payoutCents: 2_000 }
    post(short(share), { note: 'Signed', externalId: 'x-1' }).gives([
      {
        type: 'ConversionPosted',
        data: {
          ref: 'CA-0000000001',
          occurredAt: instantAfter(100),
          source: 'postback',
          revenueCents: null,
          note: 'Signed',
          externalId: 'x-1',
          before,
          after: changed,
        },
      },
      {
        type: 'BooksChanged',
        data: {
          occurredAt: instantAfter(100),
          settledAt: instantAfter(END),
          change: 1,
          campaignId,
          publisherId,
          claim: {
            target: { id: targetId() },
            buyer: { id: buyerId },
            capCountsOn: 'connected',
            occurredAt: instantAfter(0),
          },
          before,
          ...changed,
          source: 'postback',
          reason: 'postback',
          note: null,
          sentence: 'Converted: $40.00 revenue, $20.00 payout.',
        },
      },
    ])
  })

  it('books the posted revenue', () => {
    post(short(share), { revenueCents: 901 }).gives([
      {
        type: 'ConversionPosted',
        data: { revenueCents: 901, after: { converted: true, revenueCents: 901, payoutCents: 451 } },
      },
      { type: 'BooksChanged', data: { revenueCents: 901, payoutCents: 451 } },
    ])
  })

  it('by a person is a mark with its note', () => {
    post(short(), { note: 'On the phone' }, instantAfter(100), {}).gives([
      { type: 'ConversionPosted', data: { source: 'manual' } },
      { type: 'BooksChanged', data: { source: 'manual', reason: 'manual', note: 'On the phone' } },
    ])
  })

  it('before the settlement is recorded, and the call settles by it', () => {
    const posted = post(short(buffer), { revenueCents: 700 }, instantAfter(20))
    posted.gives([{ type: 'ConversionPosted', data: { before, after: { converted: true, revenueCents: 700 } } }])
    given(call, posted.events)
      .when(settleCall, { callId })
      .gives([
        { type: 'CallSettled', data: { converted: true, source: 'postback', reason: 'postback', revenueCents: 700 } },
      ])
  })

  it('on a call that converted by its talk sets the revenue, and changes nothing without one', () => {
    post(long(), { revenueCents: 700 }).gives([
      { type: 'ConversionPosted', data: { before: { revenueCents: 4_000 }, after: { revenueCents: 700 } } },
      { type: 'BooksChanged', data: { source: 'duration', reason: 'duration', revenueCents: 700 } },
    ])
    const spent = post(long())
    spent.gives([
      { type: 'ConversionPosted', data: { before: { revenueCents: 4_000 }, after: { revenueCents: 4_000 } } },
    ])
    post(spent.events, { revenueCents: 700 }).gives({ refused: 'already-converted' })
  })

  it('is accepted once, and idempotent by external id or command', () => {
    const posted = post(short(), { externalId: 'x-1' }).events
    const another = { ...BY_KEY, commandId: 'another' }
    post(posted, { externalId: 'x-1', revenueCents: 5 }, instantAfter(200), another).gives([])
    post(posted, { externalId: 'x-1' }, instantAfter(END + 73 * 3_600), another).gives([])
    post(posted, { externalId: 'x-2' }, instantAfter(200), another).gives({ refused: 'already-converted' })
    post(posted, {}, instantAfter(200), another).gives({ refused: 'already-converted' })
    post(posted, {}, instantAfter(200), { commandId: 'another' }).gives({ refused: 'already-converted' })
    const nameless = post(short()).events
    const itself = nameless.findIndex(({ type }) => type === 'ConversionPosted')
    post(nameless, {}, instantAfter(200), { ...BY_KEY, commandId: `command-${itself}` }).gives([])
    post(nameless, {}, instantAfter(200), another).gives({ refused: 'already-converted' })
  })

  it('by a buyer is accepted after a mark, and keeps the fields that it leaves out', () => {
    const mark = { ...BY_KEY, actor: { type: 'user', id: nthCallId(7), name: 'Ann' }, commandId: 'mark' }
    const marked = post(
      short(),
      { revenueCents: 700, note: 'On the phone', externalId: 'm-1' },
      instantAfter(100),
      {},
    ).events
    const both = post(marked, { externalId: 'x-1' }, instantAfter(200))
    both.gives([
      {
        type: 'ConversionPosted',
        data: {
          source: 'postback',
          revenueCents: 700,
          note: 'On the phone',
          externalId: 'x-1',
          before: { converted: true, revenueCents: 700 },
          after: { converted: true, revenueCents: 700 },
        },
      },
      { type: 'BooksChanged', data: { source: 'postback', reason: 'postback', revenueCents: 700, change: 2 } },
    ])
    post(marked, { revenueCents: 900 }, instantAfter(200)).gives([
      { type: 'ConversionPosted', data: { before: { revenueCents: 700 }, after: { revenueCents: 900 } } },
      { type: 'BooksChanged', data: { revenueCents: 900 } },
    ])
    for (const known of ['m-1', 'x-1']) post(both.events, { externalId: known }, instantAfter(300), mark).gives([])
    post(both.events, { externalId: 'x-2' }, instantAfter(300)).gives({ refused: 'already-converted' })
    post(both.events, {}, instantAfter(300), mark).gives({ refused: 'already-converted' })
    post(marked, {}, instantAfter(200), mark).gives({
      refused: 'already-converted',
      details: { conversionSource: 'manual' },
    })
  })

  it('is accepted until 72 hours after the end, to the millisecond', () => {
    const closes = END + CONVERSION.windowHours * 3_600
    expect(post(short(), {}, instantAfter(closes)).events.at(-1)?.type).toBe('BooksChanged')
    post(short(), {}, instantAfter(closes + 0.001)).gives({
      refused: 'window-closed',
      details: { closedAt: instantAfter(closes) },
    })
  })

  it('is refused while the call is live, when it reached no buyer, and for another workspace', () => {
    const live = callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4))
    post(live).gives({ refused: 'conflict', details: { outcome: 'live' } })
    post(callEventsOf(routeArrival(callWorld()), noticeSteps.end(8))).gives({ refused: 'conflict' })
    post([]).gives({ refused: 'call-not-found' })
    post(short(), {}, instantAfter(100), { workspaceId: nthCallId(9) }).gives({ refused: 'call-not-found' })
  })

  it.each([
    ['converted', { converted: false }],
    ['converted', { converted: undefined }],
    ['revenueCents', { revenueCents: -1 }],
    ['revenueCents', { revenueCents: CALL.figureCents + 1 }],
    ['revenueCents', { revenueCents: 1.5 }],
    ['note', { note: 'x'.repeat(CONVERSION.note + 1) }],
    ['externalId', { externalId: 'x'.repeat(CONVERSION.externalId + 1) }],
    ['externalId', { externalId: '' }],
  ])('refuses invalid input: %s in %j', (field, sent) => {
    const parsed = postConversion.input.safeParse({ callId, converted: true, ...sent })
    expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual([field])
  })

  it.each([
    ['  Signed\n', 'Signed'],
    [' \t', null],
    ['', null],
    [null, null],
    [`${'x'.repeat(CONVERSION.note)} `, 'x'.repeat(CONVERSION.note)],
  ])('trims the note: %j', (note, kept) => {
    post(short(), { note }).gives([{ type: 'ConversionPosted', data: { note: kept } }, { type: 'BooksChanged' }])
  })

  it('accepts texts and figures of the maximum size', () => {
    const sent = {
      revenueCents: CALL.figureCents,
      note: 'x'.repeat(CONVERSION.note),
      externalId: 'x'.repeat(CONVERSION.externalId),
    }
    const posted = post(short(), sent)
    expect(isRefusal(posted.outcome)).toBe(false)
    expect(callStateOf(posted.events).settled).toMatchObject({ revenueCents: CALL.figureCents, changes: 1 })
  })
})
