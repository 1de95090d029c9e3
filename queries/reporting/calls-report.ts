import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { bookRows } from '../../projections/reporting/book-rows.ts'
import { poolNames } from '../../projections/reporting/pool-names.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Scalar } from '../../src/ports/read-store.ts'
import { asOfMs } from './as-of.ts'
import { bookSelectionOf } from './book-selection.ts'
import { openDimension, type ReportDimension } from './report-dimension.ts'
import { addSums, bookSums, type ReportFigures, reportFigures } from './report-figures.ts'
import { type ReportSelection, reportFilters, selectReport } from './report-filter.ts'
import { type BookGroup, sumBooks } from './sum-books.ts'

/** Figures of a set of calls; a rate is null when its denominator is 0. */
const figures = z.object({
  calls: z.int(),
  connected: z.int(),
  converted: z.int(),
  unrouted: z.int(),
  missed: z.int(),
  connectRate: z.number().nullable(),
  conversionRate: z.number().nullable(),
  revenueCents: z.int(),
  payoutCents: z.int(),
  profitCents: z.int(),
  usageCents: z.int(),
  totalTalkSeconds: z.int(),
  avgTalkSeconds: z.int(),
})

const names = z.array(z.string().nullable())
const reportGroup = z.object({ keys: names, labels: names, ...figures.shape }).meta({ id: 'ReportGroup' })

/** A report on calls (Supplement §10). */
export const callsReportShape = z.object({
  groups: z.array(reportGroup),
  totals: figures.meta({ id: 'ReportTotals' }),
  truncated: z.boolean(),
  from: instant,
  to: instant,
  timezone: z.string(),
  groupBy: z.array(z.string()),
  asOf: instant,
})
export type CallsReport = z.infer<typeof callsReportShape>

interface ReadGroup {
  readonly values: readonly Scalar[]
  readonly keys: (string | null)[]
  readonly labels: (string | null)[]
  readonly figures: ReportFigures
}

const compareValues = (one: Scalar, other: Scalar): number => {
  if (one === other) return 0
  if (one === null || other === null) return one === null ? -1 : 1
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one) < String(other) ? -1 : 1
}

function compareKeys(dimensions: readonly ReportDimension[], one: ReadGroup, other: ReadGroup): number {
  for (const [place, { isOrdered }] of dimensions.entries()) {
    const [a, b] = [one, other].map(({ values, keys }) => (isOrdered ? values : keys)[place] ?? null)
    const order = compareValues(a ?? null, b ?? null)
    if (order !== 0) return order
  }
  return 0
}

function sortGroups(
  groups: readonly ReadGroup[],
  { sort, dir }: Pick<ReportSelection, 'sort' | 'dir'>,
  dimensions: readonly ReportDimension[],
): readonly ReadGroup[] {
  const way = dir === 'asc' ? 1 : -1
  return groups.toSorted((one, other) => {
    const byKey = compareKeys(dimensions, one, other)
    if (sort === 'key') return way * byKey
    return way * compareValues(one.figures[sort], other.figures[sort]) || byKey
  })
}

function readGroup(dimensions: readonly ReportDimension[], { key, sums }: BookGroup): ReadGroup {
  return {
    values: key,
    keys: dimensions.map(({ keyOf }, place) => keyOf(key[place] ?? null)),
    labels: dimensions.map(({ labelOf }, place) => labelOf(key[place] ?? null)),
    figures: reportFigures(sums),
  }
}

/** A dimension that makes the key and the label of each of its values once: with two dimensions a value has many groups. */
function withKnownTexts(dimension: ReportDimension, values: readonly Scalar[]): ReportDimension {
  const { keyOf, labelOf } = dimension
  const texts = new Map(values.map((value) => [value, [keyOf(value), labelOf(value)] as const]))
  const textOf = (value: Scalar, place: 0 | 1) => texts.get(value)?.[place] ?? null
  return { ...dimension, keyOf: (value) => textOf(value, 0), labelOf: (value) => textOf(value, 1) }
}

/** Calls by one or two dimensions, as of an instant: sums over the rows of the books. */
export const callsReport = defineQuery({
  name: 'calls-report',
  summary: 'Report on calls',
  mounts: [
    { surface: 'rest', path: '/api/v1/reports/calls', scope: 'reports:read' },
    { surface: 'console', path: '/api/tracking/reports/calls' },
  ],
  params: z.object({}),
  query: z.object(reportFilters),
  response: callsReportShape,
  reads: [bookRows, poolNames, callLog, workspaces],
  rejects: ['bad-request', 'plan-upgrade-required'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const report = await selectReport(views, { query, tenant, now })
    if (isRefusal(report)) return report
    const { calls, groupBy, limit } = report
    const { from, to, timezone } = calls
    const { workspaceId } = tenant
    const rows = {
      selection: bookSelectionOf(calls, workspaceId),
      asOfMs: await asOfMs(views, workspaceId, query.asOf, Date.parse(now)),
    }
    const { fromMs, toMs } = rows.selection
    const open = groupBy.map((dimension) => openDimension(dimension, timezone, fromMs, toMs))
    const found = await sumBooks(views, { ...rows, groupBy: open.map(({ grouping }) => grouping) })
    const dimensions: ReportDimension[] = []
    for (const [place, { withNames }] of open.entries()) {
      const values = [...new Set(found.map(({ key }) => key[place] ?? null))]
      dimensions.push(withKnownTexts(await withNames(views, rows, values), values))
    }
    const groups = groupBy.length === 0 ? [] : found.map((group) => readGroup(dimensions, group))
    return {
      groups: sortGroups(groups, report, dimensions)
        .slice(0, limit)
        .map(({ keys, labels, figures }) => ({ keys, labels, ...figures })),
      totals: reportFigures(found.reduce((sum, { sums }) => addSums(sum, sums), bookSums([]))),
      truncated: groups.length > limit,
      from,
      to,
      timezone,
      groupBy: [...groupBy],
      asOf: new Date(rows.asOfMs).toISOString(),
    }
  },
})
