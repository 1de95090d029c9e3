import { bookRows } from '../../projections/reporting/book-rows.ts'
import { storedTag } from '../../src/domain/calls/tags.ts'
import { type BookRow, bookRowsOf, type CallBooks, tagsAt } from '../../src/domain/reporting/book-rows.ts'
import { QUARTER_MS } from '../../src/domain/reporting/time-buckets.ts'
import { yieldToEventLoop } from '../../src/kernel/async/yield-to-event-loop.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore, RowGrouping, Scalar } from '../../src/ports/read-store.ts'
import { type BookSelection, documentFilter, meets, valueOfCall } from './book-selection.ts'
import { booksOf } from './read-books.ts'
import { addSums, type BookSums, bookSums, LOST_FIGURES, SUMMED_FIGURES } from './report-figures.ts'

/** What rows are grouped by: a path of the columns, or a tag. */
export type BookGrouping = RowGrouping | { readonly tag: string }

/** Rows of the books: of the selected calls, as far as they were recorded by an instant (ms since the epoch). */
export interface BookQuestion {
  readonly selection: BookSelection
  readonly asOfMs: number
  /** At most two. */
  readonly groupBy: readonly BookGrouping[]
  /** Whether what was lost is summed too. */
  readonly withLost?: boolean
}

/** The sums of a group. */
export interface BookGroup {
  readonly key: readonly Scalar[]
  readonly sums: BookSums
}

const isColumn = (grouping: BookGrouping): grouping is RowGrouping => 'path' in grouping

/** The condition on rows of a selection, in the columns. */
export function rowFilter({ selection, asOfMs }: Omit<BookQuestion, 'groupBy'>): Filter {
  const { fromMs, toMs, ofRow } = selection
  return { ...documentFilter(selection, fromMs, toMs), ...ofRow, recordedMs: { $lte: asOfMs } }
}

/** Sums from columns; null where they cannot tell. */
async function sumColumns(views: ReadStore, question: BookQuestion): Promise<readonly BookGroup[] | null> {
  const { selection, groupBy, withLost = false } = question
  if (selection.ofCaller !== null || selection.ofTags.length > 0 || !groupBy.every(isColumn)) return null
  const filter = rowFilter(question)
  const fields = withLost ? LOST_FIGURES : SUMMED_FIGURES
  const groups = await views.sumRows(collectionOf(bookRows), { filter, groupBy, fields })
  return groups?.map(({ key, sums }) => ({ key, sums: bookSums(sums) })) ?? null
}

const ROW_PATHS: Readonly<Record<string, (row: BookRow) => Scalar>> = {
  outcome: ({ outcome }) => outcome,
  conversionSource: ({ conversionSource }) => conversionSource,
  hasRecording: ({ hasRecording }) => hasRecording,
}

function valueOfRow(books: CallBooks, row: BookRow, path: string): Scalar {
  if (path === 'quarter') return Math.floor(books.startedMs / QUARTER_MS)
  return Object.hasOwn(ROW_PATHS, path) ? (ROW_PATHS[path]?.(row) ?? null) : valueOfCall(books, path)
}

/** The figures of a row. */
function sumsOf({ talkSeconds, lost }: CallBooks, row: BookRow): BookSums {
  const { calls, outcome, revenueCents, payoutCents, usageCents } = row
  const converted = outcome === 'converted' ? calls : 0
  return {
    calls,
    connected: outcome === 'connected' ? calls : converted,
    converted,
    unrouted: outcome === 'unrouted' ? calls : 0,
    missed: outcome === 'missed' ? calls : 0,
    revenueCents,
    payoutCents,
    usageCents,
    totalTalkSeconds: calls * talkSeconds,
    lostCents: calls * (lost?.cents ?? 0),
  }
}

/** Sums from the documents. */
async function sumDocuments(
  views: ReadStore,
  { selection, asOfMs, groupBy }: BookQuestion,
): Promise<readonly BookGroup[]> {
  const groups = new Map<string, BookGroup>()
  const add = (key: readonly Scalar[], sums: BookSums) => {
    const name = JSON.stringify(key)
    const known = groups.get(name)
    groups.set(name, { key, sums: known ? addSums(known.sums, sums) : sums })
  }
  const keyOf = (books: CallBooks, tags: Readonly<Record<string, string>>, row: BookRow) =>
    groupBy.map((grouping): Scalar => {
      if (!isColumn(grouping)) return tags[storedTag(grouping.tag)] ?? null
      const value = valueOfRow(books, row, grouping.path)
      return grouping.as ? grouping.as(value) : value
    })
  const ofRow = Object.entries(selection.ofRow)
  for await (const page of booksOf(views, selection)) {
    for (const books of page) {
      const tags = tagsAt(books, asOfMs)
      if (!selection.ofTags.every(([key, condition]) => meets(tags[key] ?? null, condition))) continue
      for (const row of bookRowsOf(books)) {
        if (row.recordedMs > asOfMs) continue
        if (!ofRow.every(([path, condition]) => meets(valueOfRow(books, row, path), condition))) continue
        add(keyOf(books, tags, row), sumsOf(books, row))
      }
    }
    await yieldToEventLoop()
  }
  return [...groups.values()]
}

/**
 * Sums over rows of the books, by group; groups that come to nothing are left out. From columns; from the documents where tags,
 * the caller or the reference are asked for, which no column has.
 */
export async function sumBooks(views: ReadStore, question: BookQuestion): Promise<readonly BookGroup[]> {
  const groups = (await sumColumns(views, question)) ?? (await sumDocuments(views, question))
  return groups.filter(({ sums }) => LOST_FIGURES.some((figure) => sums[figure] !== 0))
}
