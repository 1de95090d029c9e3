import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { Layout, RowsLayout } from './column-spec.ts'
import { KEY_AT, type ReadRow, VALUES_AT } from './read-rows.ts'
import { addRows, createRowBuffer, putRows, type RowBuffer, rowAt } from './row-buffer.ts'

/** Rows that are put at once. */
const ROWS_AT_ONCE = 1_000

const numberOf = (row: ReadRow, column: number): number => Number(row[VALUES_AT + column] ?? 0)

/** Adds a row to one that is alike otherwise. */
function addTo(into: ReadRow[number][], row: ReadRow, { summed, latest }: RowsLayout): void {
  for (const column of summed) into[VALUES_AT + column] = numberOf(into, column) + numberOf(row, column)
  into[VALUES_AT + latest] = Math.max(numberOf(into, latest), numberOf(row, latest))
}

/** What the rows of one document come to: those that are alike are added up, and what comes to nothing is left out. */
function netOf(rows: readonly ReadRow[], layout: Layout, own: RowsLayout): readonly ReadRow[] {
  const counted = new Set([own.latest, ...own.summed])
  const identity = layout.read.flatMap((_, column) =>
    column >= own.documentColumns && !counted.has(column) ? [VALUES_AT + column] : [],
  )
  const net: ReadRow[number][][] = []
  for (const row of rows) {
    const alike = net.find((other) => identity.every((at) => other[at] === row[at]))
    if (alike) addTo(alike, row, own)
    else net.push([...row])
  }
  return net.filter((row) => own.summed.some((column) => numberOf(row, column) !== 0))
}

/**
 * The rows of a buffer, in an order by key, as they read when all of them are included: about one for each document. Other work of
 * the thread runs in between.
 */
export async function netRows(buffer: RowBuffer, order: Uint32Array, own: RowsLayout): Promise<RowBuffer> {
  const { layout } = buffer
  const into = createRowBuffer(layout)
  const width = layout.read.length
  let page: ReadRow[] = []
  let document: ReadRow[] = []
  const put = async () => {
    putRows(into, addRows(into, page.length), page)
    page = []
    await yieldToEventLoop()
  }
  for (const place of order) {
    const row = rowAt(buffer, place).slice(0, VALUES_AT + width)
    const before = document[0]
    if (before && documentOf(before, own) !== documentOf(row, own)) {
      page.push(...netOf(document, layout, own))
      document = []
      if (page.length >= ROWS_AT_ONCE) await put()
    }
    document.push(row)
  }
  page.push(...netOf(document, layout, own))
  await put()
  return into
}

const documentOf = (row: ReadRow, { perDocument }: RowsLayout): number => Math.floor(Number(row[KEY_AT]) / perDocument)
