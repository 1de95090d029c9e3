import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { bookColumns, bookRows } from '../../../projections/reporting/book-rows.ts'
import {
  type Booked,
  type BookRow,
  bookRowsOf,
  type CallBooks,
  ROW_FIELDS,
  rowsOfChange,
  tagsAt,
} from '../../../src/domain/reporting/book-rows.ts'
import { REPORT } from '../../../src/domain/shared/limits.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { bookedCalls, bookedLog } from '../../support/fixtures/booked-calls.ts'
import { nthCallId } from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'

const connected: Booked = {
  outcome: 'connected',
  conversionSource: null,
  hasRecording: false,
  revenueCents: 0,
  payoutCents: 0,
  usageCents: 0,
}
const converted: Booked = { ...connected, outcome: 'converted', conversionSource: 'duration', revenueCents: 4_000 }

describe('rows of the books', () => {
  it('begin with the whole call at its end', () => {
    expect(rowsOfChange(null, connected, 7)).toEqual([{ ...connected, recordedMs: 7, calls: 1 }])
  })

  it('take a call back and book it anew where a dimension changes', () => {
    expect(rowsOfChange(converted, { ...connected, payoutCents: 100 }, 9)).toEqual([
      { ...converted, revenueCents: -4_000, payoutCents: -0, usageCents: -0, recordedMs: 9, calls: -1 },
      { ...connected, payoutCents: 100, recordedMs: 9, calls: 1 },
    ])
  })

  it('are the difference where figures alone change, and none where nothing does', () => {
    expect(rowsOfChange(converted, { ...converted, usageCents: 3 }, 9)).toEqual([
      { ...converted, revenueCents: 0, payoutCents: 0, usageCents: 3, recordedMs: 9, calls: 0 },
    ])
    expect(rowsOfChange(converted, converted, 9)).toEqual([])
  })

  it('have the columns in the order in which they are stored', () => {
    expect(Object.keys(bookColumns.rows.columns)).toEqual([...ROW_FIELDS])
  })

  it('are none while a call goes on', async () => {
    const [doc] = await booksOf(bookedLog([{ script: 4, minutesAgo: 5, changes: [{ kind: 'recording' }] }], []))
    expect(doc).toMatchObject({ outcome: 'live', hasRecording: true, rows: '' })
  })

  it('tell the tags of a call as of an instant, of the newest changes', async () => {
    const changes = Array.from({ length: REPORT.tagChanges + 1 }, (_, n) => ({ kind: 'tag' as const, value: `v${n}` }))
    const [doc] = await booksOf(bookedLog([{ script: 0, minutesAgo: 5, changes }], []))
    if (!doc) throw new Error('There are no books.')
    expect(doc.tags).toHaveLength(REPORT.tagChanges)
    const [second, third] = [doc.tags[0], doc.tags[1]]
    expect(tagsAt(doc, Number.MAX_SAFE_INTEGER).tier).toBe(`v${REPORT.tagChanges}`)
    expect(tagsAt(doc, (third?.[0] ?? 0) - 1)).toEqual(second?.[1])
    expect(tagsAt(doc, 0)).toEqual(second?.[1])
  })

  it('have a row without figures for each change of tags, up to half of what a call may have', async () => {
    const changes = Array.from({ length: 200 }, (_, n) => ({ kind: 'tag' as const, value: `v${n}` }))
    const [doc] = await booksOf(bookedLog([{ script: 0, minutesAgo: 5, changes }], []))
    const rows = doc ? bookRowsOf(doc) : []
    expect(rows).toHaveLength(REPORT.rowsPerCall / 2)
    expect(rows.at(-1)).toMatchObject({ calls: 0, revenueCents: 0, payoutCents: 0, usageCents: 0 })
  })

  it('have room for every change that a call may get', () => {
    // The end; two each for the settlement, a recording, three conversions and every adjustment; usage. Tags take the other half.
    expect(1 + 2 * (1 + 1 + 3 + 50) + 1).toBeLessThan(REPORT.rowsPerCall / 2)
  })
})

async function booksOf(events: readonly RecordedEvent[]): Promise<readonly CallBooks[]> {
  return Object.values(await project(bookRows, events)) as unknown as readonly CallBooks[]
}

const order = fc.array(fc.nat(7), { maxLength: 12 })

const FIGURES = ['calls', 'revenueCents', 'payoutCents', 'usageCents'] as const
type Sums = Partial<Record<(typeof FIGURES)[number], number>>

/** Figures by what a call is booked as. */
function addTo(sums: Record<string, Sums>, one: Booked, figures: Sums): void {
  const key = JSON.stringify([one.outcome, one.conversionSource, one.hasRecording])
  const known = sums[key] ?? {}
  sums[key] = Object.fromEntries(FIGURES.map((name) => [name, (known[name] ?? 0) + (figures[name] ?? 0)]))
}

const withoutNothing = (sums: Record<string, Sums>) =>
  Object.fromEntries(Object.entries(sums).filter(([, own]) => FIGURES.some((name) => own[name] !== 0)))

function sumsOfRows(rows: readonly BookRow[]) {
  const sums: Record<string, Sums> = {}
  for (const row of rows) addTo(sums, row, row)
  return withoutNothing(sums)
}

function sumsOfLog(docs: readonly Doc[]) {
  const sums: Record<string, Sums> = {}
  for (const doc of docs as unknown as readonly Booked[])
    if (doc.outcome !== 'live') addTo(sums, doc, { ...doc, calls: 1 })
  return withoutNothing(sums)
}

describe('the books of random calls with late changes', () => {
  it('sum to the call log at every moment, by everything that changes', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, fc.nat(200), async (calls, turns, cut) => {
        const log = bookedLog(calls, turns)
        const events = log.slice(0, cut % (log.length + 1))
        const books = await booksOf(events)
        const rows = books.flatMap(bookRowsOf)
        expect(sumsOfRows(rows)).toEqual(sumsOfLog(Object.values(await project(callLog, events))))
      }),
      { numRuns: 60 },
    )
  })

  it('never change a row, and know as of an instant what they knew then', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, fc.nat(200), async (calls, turns, cut) => {
        const log = bookedLog(calls, turns)
        const events = log.slice(0, cut % (log.length + 1))
        const [then, now] = [await booksOf(events), await booksOf(log)]
        const asOf = Date.parse(events.at(-1)?.meta.at ?? '') || -1
        const known = now.flatMap(bookRowsOf).filter(({ recordedMs }) => recordedMs <= asOf)
        expect(sumsOfRows(known)).toEqual(sumsOfRows(then.flatMap(bookRowsOf)))
        const byRef = new Map(now.map((books) => [books.ref, books.rows]))
        for (const { ref, rows } of then) expect(byRef.get(ref)?.startsWith(rows)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('show a call by its own id', async () => {
    const docs = await project(bookRows, bookedLog([{ script: 0, minutesAgo: 5, changes: [] }], []))
    expect(Object.keys(docs)).toEqual([nthCallId(1)])
  })
})
