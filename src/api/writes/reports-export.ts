import { z } from 'zod'
import { callsReport } from '../../../queries/reporting/calls-report.ts'
import { reportHead, reportRows } from '../../../queries/reporting/report-export.ts'
import { reportFilters, selectReport } from '../../../queries/reporting/report-filter.ts'
import { REPORT } from '../../domain/shared/limits.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { QueryRequest } from '../../runtime/queries/query-runner.ts'
import { defineFile, requestRecordOf } from './exports.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** The rows of the file, in one batch. @throws Error when the report is refused, which it was not when its parameters were checked */
async function* rowsOf(
  { queries }: Pick<WriteTools, 'queries'>,
  request: QueryRequest,
  groupBy: Parameters<typeof reportRows>[0],
) {
  const report = await queries.run(request)
  if (isRefusal(report)) throw new Error(`The report was refused: ${report.refused}.`)
  yield reportRows(groupBy, report.bytes)
}

/** A report on calls as a file (Supplement §10). */
export const exportReport: Write = defineFile({
  name: 'export-report',
  summary: 'Export a report on calls',
  kind: 'reports',
  mounts: [
    { surface: 'rest', path: '/api/v1/reports/calls/export.csv', scope: 'reports:read' },
    { surface: 'console', path: '/api/tracking/reports/calls/export.csv' },
  ],
  query: z.object(reportFilters),
  reads: callsReport.reads,
  rejects: ['bad-request', 'plan-upgrade-required'],
  async open({ filter: query, tenant, now, tools }) {
    const selection = await selectReport(tools.views, { query, tenant, now })
    if (isRefusal(selection)) return selection
    const { groupBy, calls } = selection
    const { from, to, timezone } = calls
    const limit = query.limit ?? REPORT.exportRows
    const request = {
      name: callsReport.name,
      params: {},
      query: { ...query, limit },
      tenant,
      surface: 'console',
      now,
      minPosition: null,
    } as const
    return {
      fileName: 'report',
      filters: { ...requestRecordOf(query).filters, from, to, tz: timezone },
      rows: limit,
      head: reportHead(groupBy),
      batches: rowsOf(tools, request, groupBy),
    }
  },
})
