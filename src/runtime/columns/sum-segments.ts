import type { Mutex } from '../../kernel/async/mutex.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { createTotals, type Group, type Totals } from './column-sum.ts'
import { type ColumnTest, includesAll, openTests, type Question } from './question.ts'
import type { Segment, SegmentReader } from './segment.ts'
import { constantOf } from './segment-header.ts'
import { recentSources, type WorkspaceColumns } from './workspace-columns.ts'

/** What the header of a segment says of a question that all of its rows pass. */
function addHeader(totals: Totals, { header }: Segment, { fields, newest }: Question): void {
  const columnOf = (index: number) => {
    const column = header.columns[index]
    return column?.kind === 'number' ? column : null
  }
  const sums = fields.map((index) => columnOf(index)?.sum ?? 0)
  totals.addWhole(header.rows, sums, newest === null ? null : (columnOf(newest)?.max ?? null))
}

/** The columns of a segment that a question needs: what all rows have is known without. */
const columnsOf = (
  { header }: Segment,
  { groupBy, fields, newest }: Question,
  tests: readonly ColumnTest[],
): readonly number[] => [
  ...new Set([
    ...tests.map(({ column }) => column),
    ...groupBy.map(({ column }) => column),
    ...fields.filter((field) => constantOf(header, field) === null),
    ...(newest === null ? [] : [newest]),
  ]),
]

/**
 * The groups of a question. Only the columns that it needs are loaded, of one segment after the other; what is not in memory
 * is loaded for one question at a time (`gate`), so that no more than one segment is in memory beyond its bound. Other work
 * of the thread runs between segments. @throws DamagedSegment, FilesUnavailable
 */
export async function sumWorkspace(
  state: WorkspaceColumns,
  question: Question,
  reader: SegmentReader,
  gate: Mutex,
): Promise<readonly Group[]> {
  const totals = createTotals(question)
  // At once, and with the segments and their replaced rows of this moment: later changes do not count twice.
  const { segments, dead } = state
  for (const source of recentSources(state)) totals.add(source, question.tests)
  for (const own of segments) {
    const replaced = dead.get(own.name) ?? null
    // Where all rows are asked for, what they come to says the same, except when the newest was added, and is less to read.
    const isNet = replaced === null && includesAll(own.header, question) && question.newest !== question.addedAt
    const segment = (isNet && own.net) || own
    const tests = openTests(segment.header, question)
    if (tests === null) continue
    if (tests.length === 0 && replaced === null && question.groupBy.length === 0) {
      addHeader(totals, segment, question)
      continue
    }
    const columns = columnsOf(segment, question, tests)
    const add = async () => totals.add(await reader.load(segment, columns, replaced), tests)
    if (reader.holds(segment, columns)) await add()
    else await gate(add)
    await yieldToEventLoop()
  }
  return totals.groups()
}
