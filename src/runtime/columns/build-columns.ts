import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { BuildParts } from './column-parts.ts'
import { monthOf } from './column-spec.ts'
import { ROWS_AT_ONCE } from './copy-rows.ts'
import { putRecent } from './follow-rows.ts'
import { MANIFEST, writeManifest } from './manifest.ts'
import { KEY_AT, type ReadRow, type RowRead, readByTime, VALUES_AT } from './read-rows.ts'
import { addRow, createRowBuffer, isKey, keyAt, putRow, type RowBuffer, valuesAt } from './row-buffer.ts'
import type { Segment } from './segment.ts'
import { createRecentRows, createWorkspaceColumns, type WorkspaceColumns } from './workspace-columns.ts'
import { writeSegments } from './write-segments.ts'

/** Rows of one month as they are read. */
interface Month {
  readonly month: number
  readonly buffer: RowBuffer
}

/** Adds a row to its month. False when it does not fit the columns. */
function putInMonth(months: Month[], { layout }: RowRead, row: ReadRow): boolean {
  const [key, time] = [row[KEY_AT], row[VALUES_AT + layout.time]]
  if (!isKey(key) || typeof time !== 'number') return false
  const month = monthOf(time)
  let last = months.at(-1)
  if (last?.month !== month) {
    last = { month, buffer: createRowBuffer(layout) }
    months.push(last)
  }
  return putRow(last.buffer, addRow(last.buffer), key, row, VALUES_AT)
}

const rowsOf = (months: readonly Month[]) => months.reduce((sum, { buffer }) => sum + buffer.rows, 0)

/**
 * Reads all documents of a workspace and makes its columns: segments by month, as soon as each is complete; or rows in memory
 * alone where they are few. `coverage`: what was folded before the reading began.
 * @throws StoreUnavailable, FilesUnavailable
 */
export async function buildColumns(
  { files, limits, identity }: BuildParts,
  read: RowRead,
  folder: string,
  coverage: number,
): Promise<WorkspaceColumns> {
  const { workspaceId, collection, layout } = read
  const segments: Segment[] = []
  const months: Month[] = []
  const state = createWorkspaceColumns({ workspaceId, folder, coverage }, segments, createRecentRows(layout))
  const write = async ({ month, buffer }: Month) =>
    void segments.push(...(await writeSegments(files, folder, month, buffer, limits.segmentRows)))

  for await (const page of readByTime(read)) {
    if (!page.every((row) => putInMonth(months, read, row))) return { ...state, isUnfit: true }
    if (segments.length === 0 && rowsOf(months) < limits.mergeRows) continue
    // The last month read may have more.
    for (const complete of months.splice(0, months.length - 1)) await write(complete)
    if (rowsOf(months) + limits.pageRows > limits.segmentRows) for (const full of months.splice(0)) await write(full)
  }
  if (segments.length === 0 && rowsOf(months) < limits.mergeRows) {
    await files.remove(folder)
    for (const { buffer } of months) await copyToRecent(state, buffer)
    return state
  }
  for (const month of months) await write(month)
  const names = segments.map(({ name }) => name)
  await writeManifest(files, layout, { store: await identity(), collection, workspaceId, coverage, segments: names })
  const current = new Set([...names, MANIFEST])
  for (const name of await files.list(folder)) if (!current.has(name)) await files.remove(`${folder}/${name}`)
  return state
}

/** Puts rows of a month among the recent ones. Other work of the thread runs in between. */
async function copyToRecent({ recent }: WorkspaceColumns, buffer: RowBuffer): Promise<void> {
  for (let row = 0; row < buffer.rows; row++) {
    putRecent(recent, [null, keyAt(buffer, row), ...valuesAt(buffer, row)])
    if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await yieldToEventLoop()
  }
}
