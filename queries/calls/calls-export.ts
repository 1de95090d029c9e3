import { callLog } from '../../projections/calls/call-log.ts'
import { CALL_HEADINGS, csvRowOf, encodeRows, isCsvRow, rowStartedAt } from '../../src/domain/calls/csv-row.ts'
import { csvHeader } from '../../src/domain/shared/csv.ts'
import { EXPORT } from '../../src/domain/shared/limits.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, Page, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'

/** The heading row of the file. */
export const callsHead = csvHeader(CALL_HEADINGS.map((heading) => ({ heading })))

/** One batch of the export; everything in it can be sent to another thread. */
export interface CallsExportRequest {
  /** Filter of the calls, apart from their start. */
  readonly filter: Filter
  readonly fromMs: number
  /** Calls that started before this. */
  readonly belowMs: number
  readonly timezone: string
  /** Maximum number of rows. */
  readonly most: number
}

/** Rows of the file in UTF-8. `belowMs` is where the next batch begins; null when this is the last one. */
export interface CallsExportBatch {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly belowMs: number | null
}

type Views = Pick<ReadStore, 'find' | 'pluck'>

/** Stored CSV rows of a page of calls. */
async function readCsvRows(views: Views, page: Page): Promise<readonly string[]> {
  const lines = await views.pluck(collectionOf(callLog), 'csvRow', page)
  if (lines.every(isCsvRow)) return lines
  // Documents of an earlier version have no such row; they are read until the present version is built.
  return (await readAll(views, callLog, page)).map(csvRowOf)
}

/**
 * The next batch, newest first. It never ends between two calls that started in the same millisecond, so that calls which
 * arrive meanwhile do not shift the following batches; calls of one millisecond that fill a batch enlarge it.
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

/** A request for the next batch of an export; `file` identifies the export, so that its next batch can be prefetched. */
export type ExportBatchRequest = CallsExportRequest & { readonly file: string }
