import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adjustCall } from '../../../commands/calls/adjust-call.ts'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { recordUsage } from '../../../commands/calls/record-usage.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { callStory } from '../../../projections/calls/call-story.ts'
import { call } from '../../../src/domain/calls/call.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { Json } from '../../support/e2e/api-client.ts'
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
import { project } from '../../support/fixtures/project.ts'
import { given, recordedEvents } from '../../support/fixtures/spec.ts'

const callId = nthCallId(1)
const THRESHOLD = 30
const buffered = [
  changeSteps.campaign({ bufferSeconds: 60 }),
  changeSteps.target({ durationThresholdSeconds: THRESHOLD }),
]
const terms = [
  { payoutMode: 'fixed', payoutCents: 350 },
  { payoutMode: 'revshare', revsharePct: 33.33 },
  { payoutMode: 'revshare', revsharePct: 90, minPayoutCents: 200, maxPayoutCents: 700 },
]
/** Calls that ended and have not settled, below and at the threshold, under each of the terms. */
const ended = terms.flatMap((lane) =>
  [THRESHOLD - 1, THRESHOLD].map((talk) =>
    callEventsOf(
      routeArrival(callWorld(...buffered, changeSteps.lane(lane))),
      noticeSteps.answer(1, 4),
      noticeSteps.end(4 + talk),
    ),
  ),
)

type Step = readonly [AnyCommand, object]
const settles: Step = [settleCall, {}]
const charges: Step = [recordUsage, { usageCents: 3, occurredAt: instantAfter(200) }]

const figure = fc.oneof(fc.constantFrom(0, 1, 350, 700, 4_000), fc.nat(100_000_000))
const posting: fc.Arbitrary<Step> = fc
  .option(figure, { nil: undefined })
  .map((revenueCents) => [postConversion, { converted: true, revenueCents }] as const)
const adjusting: fc.Arbitrary<Step> = fc
  .record({ converted: fc.boolean(), revenueCents: figure, payoutCents: figure }, { requiredKeys: [] })
  .map((sent) => [adjustCall, { ...sent, reason: 'Agreed' }] as const)

/** Runs steps in order, each as one command; returns which of them were refused. */
function taken(events: readonly NewEvent[], steps: readonly Step[]) {
  return steps.reduce(
    (so, [command, input]) => {
      const { outcome, events } = given(call, so.events).when(
        command,
        { callId, ...input },
        { at: instantAfter(100), commandId: `${so.refused.length}` },
      )
      return { events, refused: [...so.refused, isRefusal(outcome)] }
    },
    { events, refused: [] as readonly boolean[] },
  )
}

/** The final books of a call. */
function booksIn(events: readonly NewEvent[]) {
  const { settled, corrections } = callStateOf(events)
  const { at: _at, changes: _changes, ...books } = settled ?? { at: null, changes: 0 }
  return { books, corrections }
}

/** The steps with another one inserted at an index. */
const withAt = (steps: readonly Step[], step: Step, place: number) =>
  steps.toSpliced(place % (steps.length + 1), 0, step)

const history = fc.record({
  start: fc.constantFrom(...ended),
  steps: fc.array(fc.oneof(posting, adjusting, fc.constant(charges)), { maxLength: 6 }),
  place: fc.nat(6),
  other: fc.nat(6),
})

describe('late facts of a call', () => {
  it('give the same books whenever the call settles', () => {
    fc.assert(
      fc.property(history, ({ start, steps, place, other }) => {
        const one = taken(start, withAt(steps, settles, place))
        const another = taken(start, withAt(steps, settles, other))
        expect(booksIn(one.events)).toEqual(booksIn(another.events))
      }),
      { numRuns: 300 },
    )
  })

  it('give the same books whenever an accepted conversion is posted', () => {
    const corrections = fc.record({
      start: fc.constantFrom(...ended),
      adjustments: fc.array(adjusting, { maxLength: 4 }),
      posted: posting,
      place: fc.nat(5),
      other: fc.nat(5),
    })
    fc.assert(
      fc.property(corrections, ({ start, adjustments, posted, place, other }) => {
        const steps = [...adjustments, settles]
        const one = taken(start, withAt(steps, posted, place))
        const another = taken(start, withAt(steps, posted, other))
        fc.pre(![...one.refused, ...another.refused].includes(true))
        expect(booksIn(one.events)).toEqual(booksIn(another.events))
      }),
      { numRuns: 300 },
    )
  })

  it('lead to one settlement and one usage charge, and keep every correction until it is set again', () => {
    fc.assert(
      fc.property(history, ({ start, steps, place }) => {
        const twice = [...withAt(steps, settles, place), settles, charges, charges, settles]
        const { events, refused } = taken(start, twice)
        const count = (type: string) => events.filter((event) => event.type === type).length
        expect([count('CallSettled'), count('UsageCharged')]).toEqual([1, 1])
        expect(count('ConversionPosted')).toBeLessThanOrEqual(1)
        const accepted = twice.filter(([command], n) => command === adjustCall && !refused[n])
        const { books, corrections } = booksIn(events)
        expect(corrections).toEqual(
          Object.assign({}, ...accepted.map(([, { reason: _reason, ...named }]: Json) => named)),
        )
        expect(books).toMatchObject(corrections)
      }),
      { numRuns: 300 },
    )
  })

  it('read the same in call log, story and call state', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ start, steps, place }) => {
        const { events } = taken(start, withAt(steps, settles, place))
        const { books, corrections } = booksIn(events)
        const { source, reason: _reason, ...figures }: Json = books
        const row: Json = (await project(callLog, recordedEvents(call, events)))[callId]
        expect(row).toMatchObject({
          ...figures,
          conversionSource: source,
          profitCents: figures.revenueCents - figures.payoutCents,
          outcome: figures.converted ? 'converted' : 'connected',
          connectedCount: 1,
          convertedCount: Number(figures.converted),
        })
        expect(row.convertedAt === null).toBe(!figures.converted)
        const story: Json = (await project(callStory, recordedEvents(call, events)))[callId]
        expect(story.corrections ?? {}).toEqual(corrections)
        const adjusted = events.filter(({ type }) => type === 'CallAdjusted')
        expect(story.adjustments).toHaveLength(adjusted.length)
        const last = story.adjustments.at(-1)?.after
        const posted = events.findLastIndex(({ type }) => type === 'ConversionPosted')
        if (last && posted < events.findLastIndex(({ type }) => type === 'CallAdjusted')) expect(figures).toEqual(last)
      }),
      { numRuns: 100 },
    )
  })
})
