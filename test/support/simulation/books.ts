import type { z } from 'zod'
import { callLog } from '../../../projections/calls/call-log.ts'
import { callRecordings } from '../../../projections/calls/call-recordings.ts'
import { callStory } from '../../../projections/calls/call-story.ts'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { walletEvents } from '../../../src/domain/money/wallet.ts'
import { counterKey, ledger } from '../../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import type { MemoryReadStore } from '../memory/read-store.ts'

/** Events of one type, as their schema reads them. */
function every<Schema extends z.ZodType>(events: readonly RecordedEvent[], type: string, schema: Schema) {
  return events.filter((event) => event.type === type).map(({ data }): z.infer<Schema> => schema.parse(data))
}

const settled = callEvents.CallSettled.pick({
  callId: true,
  occurredAt: true,
  campaignId: true,
  publisherId: true,
  buyerId: true,
  revenueCents: true,
  payoutCents: true,
})
const rebooked = callEvents.BooksChanged.pick({ callId: true, revenueCents: true, payoutCents: true })
type Books = z.infer<typeof settled>

/** The books of each call as they stand after all that changed them, by call. */
function finalBooks(events: readonly RecordedEvent[]): ReadonlyMap<string, Books> {
  const books = new Map<string, Books>()
  for (const one of every(events, 'CallSettled', settled)) books.set(one.callId, one)
  for (const { callId, ...figures } of every(events, 'BooksChanged', rebooked)) {
    const before = books.get(callId)
    if (before) books.set(callId, { ...before, ...figures })
  }
  return books
}

/** Usage: charged for every call that talked, once, at the rate that was frozen when it arrived. */
export function usageBroken(events: readonly RecordedEvent[]): readonly string[] {
  const rates = new Map(
    every(events, 'CallArrived', callEvents.CallArrived).map(({ arrival, terms }) => [arrival.callId, terms]),
  )
  const charged = new Map(
    every(events, 'WalletCharged', walletEvents.WalletCharged).map(({ reference, amountCents }) => [
      reference,
      amountCents,
    ]),
  )
  const told = new Map(
    every(events, 'UsageCharged', callEvents.UsageCharged).map(({ callId, usageCents }) => [callId, usageCents]),
  )
  return every(events, 'CallEnded', callEvents.CallEnded).flatMap(({ callId, connected, talkSeconds }) => {
    const rate = rates.get(callId)?.usageRateCents ?? 0
    const owed = connected ? Math.floor(Math.ceil(talkSeconds / 60) * rate + 0.5) : 0
    const paid = [charged.get(`usage:${callId}`) ?? 0, told.get(callId) ?? 0]
    return paid.every((cents) => cents === owed) ? [] : [`${callId} owes ${owed} for its usage, and paid ${paid}`]
  })
}

/** What the ledger counts of money is what the calls have in their books. */
export function countersBroken(events: readonly RecordedEvent[]): readonly string[] {
  const { state } = foldEvents(
    ledger,
    emptyFold(ledger),
    events.filter(({ stream }) => stream.startsWith('ledger-')),
  )
  const sums = new Map<string, number>()
  const add = (key: string, day: string, cents: number) =>
    sums.set(`${key} ${day}`, (sums.get(`${key} ${day}`) ?? 0) + cents)
  for (const { occurredAt, campaignId, publisherId, buyerId, revenueCents, payoutCents } of finalBooks(
    events,
  ).values()) {
    const day = occurredAt.slice(0, 10)
    if (buyerId) add(counterKey('buyer', buyerId), day, revenueCents)
    if (campaignId && publisherId) add(counterKey('lane', `${campaignId}:${publisherId}`), day, payoutCents)
  }
  const counted = new Map<string, number>(
    [...state.counters].flatMap(([key, { cents }]) =>
      /^(buyer|lane):/.test(key) ? [...cents].map(([day, sum]) => [`${key} ${day}`, sum] as const) : [],
    ),
  )
  return [...new Set([...sums.keys(), ...counted.keys()])].flatMap((key) => {
    const [booked, kept] = [sums.get(key) ?? 0, counted.get(key) ?? 0]
    return booked === kept ? [] : [`${key}: the calls' books hold ${booked} cents, the ledger ${kept}`]
  })
}

/** Rows of the call log show the final books, and their profit. */
export function rowsBroken(events: readonly RecordedEvent[], views: MemoryReadStore): readonly string[] {
  const rows = views.all(buildNames(callLog).collection)
  return [...finalBooks(events).values()].flatMap(({ callId, revenueCents, payoutCents }) => {
    const row = rows[callId]
    const same = row?.revenueCents === revenueCents && row.payoutCents === payoutCents
    return same && row.profitCents === revenueCents - payoutCents
      ? []
      : [`The row of ${callId} is not ${revenueCents}, ${payoutCents}: ${JSON.stringify(row)}`]
  })
}

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

/** Every call has its story, whole: a step for all that happened, a skip for each target passed over, an end to each dial. */
export function storiesBroken(events: readonly RecordedEvent[], views: MemoryReadStore): readonly string[] {
  const stories = views.all(buildNames(callStory).collection)
  const happened = new Map<string, string[]>()
  for (const { type, stream, data } of events) {
    if (!stream.startsWith('call-')) continue
    const steps = happened.get(stream) ?? []
    const skipped = data && typeof data === 'object' && 'skipped' in data ? data.skipped : []
    steps.push(...(STEPS[type] ?? []), ...(Array.isArray(skipped) ? skipped.map(() => 'skipped') : []))
    happened.set(stream, steps)
  }
  return [...happened].flatMap(([stream, wanted]) => {
    const { steps, attempts } = callStory.doc.parse(stories[stream.slice('call-'.length)])
    const told = steps.map(({ step }) => step).filter((step) => step !== 'plan')
    const whole = told.toSorted().join() === wanted.toSorted().join()
    const open = attempts.filter(({ outcome, endedAt }) => outcome === null || endedAt === null)
    return [
      ...(whole ? [] : [`The story of ${stream} tells ${told}, not ${wanted}`]),
      ...open.map(({ attemptNo }) => `Attempt ${attemptNo} of ${stream} has no end`),
    ]
  })
}

/** A call that was answered lists the recording that was told of, once; no other call lists any. */
export function recordingsBroken(
  events: readonly RecordedEvent[],
  views: MemoryReadStore,
  recorded: ReadonlySet<string>,
): readonly string[] {
  const kept = views.all(buildNames(callRecordings).collection)
  const answered = new Set(every(events, 'TargetAnswered', callEvents.TargetAnswered).map(({ callId }) => callId))
  return [...new Set([...recorded, ...Object.keys(kept)])].flatMap((callId) => {
    const doc = kept[callId]
    const listed = doc ? callRecordings.doc.parse(doc).recordings.length : 0
    const told = recorded.has(callId) && answered.has(callId) ? 1 : 0
    return listed === told ? [] : [`${callId} lists ${listed} recordings, and has ${told}`]
  })
}
