import { z } from 'zod'
import { callLog } from '../../../projections/calls/call-log.ts'
import { callsHead, type ExportBatchRequest } from '../../../queries/calls/calls-export.ts'
import { callFilters, selectCalls } from '../../../queries/shared/call-filter.ts'
import { EXPORT } from '../../domain/shared/limits.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineFile, requestRecordOf } from './exports.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** The lines of the file. Each batch is rendered while the one before is sent, at most one ahead of the reader. */
export async function* linesOf(callLines: WriteTools['callLines'], request: Omit<ExportBatchRequest, 'most'>) {
  let left: number = EXPORT.calls
  let next = callLines({ ...request, most: left })
  for (;;) {
    const { bytes, rows, belowMs } = await next
    left -= rows
    if (belowMs === null) {
      yield bytes
      return
    }
    next = callLines({ ...request, belowMs, most: left })
    // When the reader stops, nothing awaits this batch, and its failure would be an unhandled rejection.
    next.catch(() => undefined)
    yield bytes
  }
}

/** The call log as a file (Document 2, export). */
export const exportCalls: Write = defineFile({
  name: 'export-calls',
  summary: 'Export the call log',
  kind: 'calls',
  mounts: [
    { surface: 'rest', path: '/api/v1/calls/export.csv', scope: 'calls:read' },
    { surface: 'console', path: '/api/tracking/calls/export.csv' },
  ],
  query: z.object(callFilters),
  type: 'text/csv; charset=utf-8',
  reads: [callLog],
  rejects: ['bad-request'],
  async open({ filter: query, tenant, now, tools: { views, callLines, random } }) {
    const selection = selectCalls({ query, tenant, now })
    if (isRefusal(selection)) return selection
    const { filter, from, to, timezone } = selection
    const count = await views.count(collectionOf(callLog), filter)
    const window = { fromMs: Date.parse(from), belowMs: Date.parse(to) }
    return {
      filters: { ...requestRecordOf(query).filters, from, to, tz: timezone },
      rows: Math.min(count, EXPORT.calls),
      head: callsHead,
      batches: linesOf(callLines, { file: random.uuid(), filter, ...window, timezone }),
    }
  },
})
