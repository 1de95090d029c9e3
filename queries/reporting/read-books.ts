import { callLog } from '../../projections/calls/call-log.ts'
import { bookRows } from '../../projections/reporting/book-rows.ts'
import type { CallBooks } from '../../src/domain/reporting/book-rows.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readAll, readMany } from '../shared/documents.ts'
import { type BookSelection, documentFilter } from './book-selection.ts'

/** Documents that are read at once. */
const PAGE = 1_000

/** Parts of a page sorted by descending start that end between two starts; all of them on the last page. */
function wholeStarts<Row>(page: readonly Row[], isFull: boolean, startOf: (row: Row) => number): readonly Row[] {
  const last = page.at(-1)
  if (!isFull || last === undefined) return page
  return page.slice(0, page.findLastIndex((row) => startOf(row) !== startOf(last)) + 1)
}

/** Pages of what `read` finds below an instant (ms), newest first: each start is in one page. */
async function* byStart<Row>(
  toMs: number,
  startOf: (row: Row) => number,
  read: (belowMs: number, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let [belowMs, limit] = [toMs, PAGE]
  for (;;) {
    const page = await read(belowMs, limit)
    const isFull = page.length === limit
    const whole = wholeStarts(page, isFull, startOf)
    const last = whole.at(-1)
    if (last !== undefined) yield whole
    if (!isFull) return
    // Calls of one instant that fill a page enlarge it.
    limit = last === undefined ? limit * 2 : PAGE
    belowMs = last === undefined ? belowMs : startOf(last)
  }
}

/** Pages of the books of the selected calls, newest first, found by the number of the caller or the reference. */
async function* booksOfCallers(
  views: ReadStore,
  { workspaceId, ofCall, ofCaller, fromMs, toMs }: BookSelection,
): AsyncGenerator<readonly CallBooks[]> {
  const calls = byStart<readonly unknown[]>(
    toMs,
    ([, startedMs]) => Number(startedMs),
    (belowMs, limit) =>
      views.select(collectionOf(callLog), ['_id', 'startedMs'], {
        filter: { ...ofCall, ...ofCaller, workspaceId, startedMs: { $gte: fromMs, $lt: belowMs } },
        sort: { startedMs: -1 },
        limit,
      }),
  )
  for await (const page of calls) {
    const ids = page.map(([callId]): string => String(callId))
    yield [...(await readMany(views, bookRows, ids)).values()]
  }
}

/** Pages of the books of the selected calls. Conditions on rows and tags are for the reader to judge. */
export function booksOf(views: ReadStore, selection: BookSelection): AsyncGenerator<readonly CallBooks[]> {
  if (selection.ofCaller !== null) return booksOfCallers(views, selection)
  return byStart(
    selection.toMs,
    ({ startedMs }: CallBooks) => startedMs,
    (belowMs, limit) =>
      readAll(views, bookRows, {
        filter: documentFilter(selection, selection.fromMs, belowMs),
        sort: { startedMs: -1 },
        limit,
      }),
  )
}
