import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bookColumns, bookRows } from '../../../projections/reporting/book-rows.ts'
import { SUMMED_FIGURES } from '../../../queries/reporting/report-figures.ts'
import { bookRowsOf, type CallBooks } from '../../../src/domain/reporting/book-rows.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Doc, DocumentWrite } from '../../../src/ports/read-store.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { bookedCalls, bookedLog } from '../../support/fixtures/booked-calls.ts'
import { columnParts } from '../../support/fixtures/column-parts.ts'
import { SMALL_LIMITS } from '../../support/fixtures/column-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { WORKSPACE } from '../../support/fixtures/spec.ts'
import { wholeCheckpoint } from '../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const { collection, checkpoint } = buildNames(bookRows)
const FIELDS = ['calls', 'revenueCents', 'payoutCents', 'usageCents'] as const

/** A store that is written to while columns of it are read. */
function bookStore() {
  const store = createMemoryReadStore()
  const parts = { ...columnParts([bookColumns]), limits: SMALL_LIMITS }
  let position = 0
  let known: Readonly<Record<string, Doc>> = {}
  return {
    open: () => withColumns(store, parts),
    /** Stores what changed; returns the books. */
    async fold(events: readonly RecordedEvent[]): Promise<readonly CallBooks[]> {
      const docs = await project(bookRows, events)
      const expected = position === 0 ? null : position
      const changed = Object.entries(docs).filter(([id, doc]) => JSON.stringify(doc) !== JSON.stringify(known[id]))
      const writes = changed.map(([id, doc], n): DocumentWrite => ({ collection, id, doc, position: position + n + 1 }))
      position += writes.length + 1
      await store.commit(writes, { name: wholeCheckpoint(checkpoint), expected, next: { position, at: null } })
      known = docs
      return Object.values(docs) as unknown as readonly CallBooks[]
    },
  }
}

/** Sums of the rows of books by outcome, as far as they were recorded by then. */
function sumsOf(books: readonly CallBooks[], asOfMs: number) {
  const rows = books.flatMap(bookRowsOf).filter(({ recordedMs }) => recordedMs <= asOfMs)
  const groups = Map.groupBy(rows, ({ outcome }) => outcome)
  const sums = [...groups].map(
    ([outcome, own]) => [outcome, FIELDS.map((field) => own.reduce((sum, row) => sum + row[field], 0))] as const,
  )
  return Object.fromEntries(sums.filter(([, own]) => own.some((sum) => sum !== 0)))
}

async function asked(views: ReturnType<typeof withColumns>, asOfMs: number) {
  const filter = { workspaceId: WORKSPACE, recordedMs: { $lte: asOfMs } }
  const groups = await views.sumRows(collection, { filter, groupBy: [{ path: 'outcome' }], fields: FIELDS })
  if (!groups) throw new Error('The columns do not answer.')
  const sums = groups.map(({ key, sums }) => [String(key[0]), sums] as const)
  return Object.fromEntries(sums.filter(([, own]) => own.some((sum) => sum !== 0)))
}

const order = fc.array(fc.nat(7), { maxLength: 12 })

describe('columns of rows within documents', () => {
  it('follow what is written, through merges and a new process, and tell every earlier instant', async () => {
    await fc.assert(
      fc.asyncProperty(bookedCalls, order, fc.array(fc.nat(200), { maxLength: 4 }), async (calls, turns, cuts) => {
        const log = bookedLog(calls, turns)
        const { open, fold } = bookStore()
        let views = open()
        const steps = [...cuts.map((cut) => cut % log.length).toSorted((one, other) => one - other), log.length]
        for (const [place, step] of steps.entries()) {
          const books = await fold(log.slice(0, step))
          const instants = log.slice(0, step).map(({ meta }) => Date.parse(meta.at))
          for (const asOfMs of [...instants.filter((_, n) => n % 5 === place % 5), Number.MAX_SAFE_INTEGER])
            expect(await asked(views, asOfMs)).toEqual(sumsOf(books, asOfMs))
          await views.settled()
          expect(await asked(views, Number.MAX_SAFE_INTEGER)).toEqual(sumsOf(books, Number.MAX_SAFE_INTEGER))
          if (place % 2 === 0) views = open()
        }
      }),
      { numRuns: 60 },
    )
  })

  it('leave sums and counts of the documents themselves to the store', async () => {
    const { open, fold } = bookStore()
    await fold(bookedLog([{ script: 0, minutesAgo: 5, changes: [] }], []))
    expect(await open().count(collection, { workspaceId: WORKSPACE })).toBe(1)
    expect(await open().sum(collection, { workspaceId: WORKSPACE }, [], [])).toEqual([{ key: [], count: 1, sums: [] }])
  })

  it('have a column of each figure', () => {
    const columns = [...Object.keys(bookColumns.rows.columns), ...Object.keys(bookColumns.derived)]
    expect(columns).toEqual(expect.arrayContaining([...SUMMED_FIGURES]))
  })
})
