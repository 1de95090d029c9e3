import { callLog } from '../../../projections/calls/call-log.ts'
import { callRecordings } from '../../../projections/calls/call-recordings.ts'
import { callStory } from '../../../projections/calls/call-story.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { finalBooks } from './money.ts'

/** The documents of a read model by id. */
type Documents = Readonly<Record<string, Doc>>

/** Rows of the call log show the final books and their profit. */
export function rowViolations(events: readonly RecordedEvent[], rows: Documents): readonly string[] {
  return [...finalBooks(events).values()].flatMap(({ callId, revenueCents, payoutCents }) => {
    const row = rows[callId]
    const same = row?.revenueCents === revenueCents && row.payoutCents === payoutCents
    return same && row.profitCents === revenueCents - payoutCents
      ? []
      : [`The ${callLog.name} row of ${callId} is not ${revenueCents}, ${payoutCents}: ${JSON.stringify(row)}`]
  })
}

/** The steps that an event adds to the story of its call. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  CallArrived: ['incoming', 'gates'],
  TargetDialed: ['dial'],
  TargetFailed: ['result'],
  TargetAnswered: ['connected'],
  CallUnrouted: ['unrouted'],
  CallEnded: ['ended'],
  CallSettled: ['settled'],
  BooksChanged: ['settled'],
}

/** Every call has its whole story: a step for each event, a skip for each target that was passed over, an end for each dial. */
export function storyViolations(events: readonly RecordedEvent[], stories: Documents): readonly string[] {
  const expected = new Map<string, string[]>()
  for (const { type, stream, data } of events) {
    if (parseStreamName(stream).category !== call.name) continue
    const steps = expected.get(stream) ?? []
    const skipped = data && typeof data === 'object' && 'skipped' in data ? data.skipped : []
    steps.push(...(STEPS[type] ?? []), ...(Array.isArray(skipped) ? skipped.map(() => 'skipped') : []))
    expected.set(stream, steps)
  }
  return [...expected].flatMap(([stream, wanted]) => {
    const { steps, attempts } = callStory.doc.parse(stories[parseStreamName(stream).id])
    const shown = steps.map(({ step }) => step).filter((step) => step !== 'plan' && step !== 'ping')
    const whole = shown.toSorted().join() === wanted.toSorted().join()
    const open = attempts.filter(({ outcome, endedAt }) => outcome === null || endedAt === null)
    return [
      ...(whole ? [] : [`The story of ${stream} has the steps ${shown}, not ${wanted}`]),
      ...open.map(({ attemptNo }) => `Attempt ${attemptNo} of ${stream} has no end`),
    ]
  })
}

/** A call that was answered lists the recording that the carrier reported, once; no other call lists any. */
export function recordingViolations(
  events: readonly RecordedEvent[],
  recordings: Documents,
  reported: ReadonlySet<string>,
): readonly string[] {
  const answered = new Set(
    events.filter(({ type }) => type === 'TargetAnswered').map(({ stream }) => parseStreamName(stream).id),
  )
  return [...new Set([...reported, ...Object.keys(recordings)])].flatMap((callId) => {
    const doc = recordings[callId]
    const listed = doc ? callRecordings.doc.parse(doc).recordings.length : 0
    const expected = reported.has(callId) && answered.has(callId) ? 1 : 0
    return listed === expected ? [] : [`${callId} lists ${listed} recordings, and has ${expected}`]
  })
}
