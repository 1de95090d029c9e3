import { callLog } from '../../projections/calls/call-log.ts'
import { CALL_HEADINGS, csvRowOf, encodeRows, rowStartedAt } from '../../src/domain/calls/csv-row.ts'
import { csvHeader } from '../../src/domain/shared/csv.ts'
import { EXPORT } from '../../src/domain/shared/limits.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, Page, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'

/** What the file begins with. */
export const callsHead = csvHeader(CALL_HEADINGS.map((heading) => ({ heading })))

/** Which lines of the file are wanted: everything in it can cross a thread. */
export interface CallsExportRequest {
  /** The calls, whenever they started. */
  readonly filter: Filter
  readonly fromMs: number
  /** Calls that started before this. */
  readonly belowMs: number
  readonly timezone: string
  /** Lines at the most. */
  readonly most: number
}

/** Lines of the file. `belowMs` is where the next ones begin; null when there are none. */
export interface CallsExportBatch {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly belowMs: number | null
}

type Views = Pick<ReadStore, 'find' | 'pluck'>

/** Lines of a page of calls, as they are kept. */
async function readCsvRows(views: Views, page: Page): Promise<readonly string[]> {
  const lines = await views.pluck(collectionOf(callLog), 'row', page)
  if (lines.every((line) => typeof line === 'string')) return lines
  // What an earlier version of the call log keeps has no lines, and is read until this one is built.
  return (await readAll(views, callLog, page)).map(csvRowOf)
}

/**
 * The next calls, newest first: a batch of them, cut where no call that started in the same millisecond is left behind, so
 * that what arrives meanwhile moves none of them. Calls of one millisecond that fill a batch make it larger.
 */
export async function readCallsExport(
  views: Views,
  { filter, fromMs, belowMs, timezone, most }: CallsExportRequest,
): Promise<CallsExportBatch> {
  const within: Filter = { ...filter, startedMs: { $gte: fromMs, $lt: belowMs } }
  for (let size = Math.min(EXPORT.batch, most); ; size *= 2) {
    const lines = await readCsvRows(views, { filter: within, sort: { startedMs: -1 }, limit: size + 1 })
    const beyond = lines[size]
    const last = beyond === undefined ? null : rowStartedAt(beyond)
    const cut =
      last === null || size >= most ? lines.length : lines.findLastIndex((one) => rowStartedAt(one) !== last) + 1
    if (cut === 0 && last !== null) continue
    const rows = lines.slice(0, Math.min(cut, most))
    const over = last === null || rows.length === most
    return { bytes: encodeRows(timezone, rows), rows: rows.length, belowMs: over ? null : Date.parse(last) + 1 }
  }
}

/** A batch of a file that is asked for again and again, by a name of its own. */
export type ExportBatchRequest = CallsExportRequest & { readonly file: string }
