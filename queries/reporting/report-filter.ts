import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { planOf } from '../../src/domain/access/plans.ts'
import { type Dimension, isDimension, isTimeDimension } from '../../src/domain/reporting/dimensions.ts'
import { localLength } from '../../src/domain/reporting/time-buckets.ts'
import { REPORT } from '../../src/domain/shared/limits.ts'
import { DAY_MS } from '../../src/domain/shared/time.ts'
import { excerpt } from '../../src/kernel/excerpt.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { queryInstant, queryInteger } from '../../src/kernel/wire.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type CallSelection, callFilters, selectCalls } from '../shared/call-filter.ts'
import { readMany } from '../shared/documents.ts'
import { METRICS, type Metric } from './report-figures.ts'

const groupBy = z
  .string()
  .transform((text, { addIssue }): readonly Dimension[] => {
    const names = text.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !isDimension(name))
    if (unknown !== undefined) addIssue(`"${excerpt(unknown)}" is not a dimension of reports`)
    return names.filter(isDimension)
  })
  .meta({ type: 'string' })

const asOf = queryInstant.optional()

const sort = z
  .string()
  .optional()
  .transform((text): Metric | 'key' | null => ['key' as const, ...METRICS].find((one) => one === text) ?? null)
  .meta({ enum: ['key', ...METRICS] })

const dir = z
  .string()
  .optional()
  .transform((text) => (['asc', 'desc'] as const).find((one) => one === text) ?? null)
  .meta({ enum: ['asc', 'desc'] })

/** The parameters of a report on calls, to be spread into a query (Supplement §10). */
export const reportFilters = {
  ...callFilters,
  groupBy: groupBy.optional(),
  limit: queryInteger(REPORT.limit).optional(),
  sort,
  dir,
  asOf,
}

/** The parameters of a report without dimensions. */
export const bookFilters = { ...callFilters, asOf }

const bookQuery = z.object(bookFilters)
export type BookQuery = Readonly<z.infer<typeof bookQuery>>
const reportQuery = z.object(reportFilters)
export type ReportQuery = Readonly<z.infer<typeof reportQuery>>

type ReportRefusal = Refusal<'bad-request' | 'plan-upgrade-required'>
type Context<Filter> = Pick<QueryContext<unknown, Filter>, 'query' | 'tenant' | 'now'>

/** Refuses a report as of an instant where the plan has none; null otherwise. */
async function planRefusal(
  views: Pick<ReadStore, 'getMany'>,
  { query, tenant: { workspaceId } }: Context<BookQuery>,
): Promise<ReportRefusal | null> {
  if (query.asOf === undefined) return null
  const workspace = (await readMany(views, workspaces, [workspaceId])).get(workspaceId)
  return workspace && planOf(workspace.planId).features.asOf
    ? null
    : refuse('plan-upgrade-required', { feature: 'asOf' })
}

/** The calls of a report; a refusal that names each invalid field. */
export async function selectBooks(
  views: Pick<ReadStore, 'getMany'>,
  context: Context<BookQuery>,
): Promise<CallSelection | ReportRefusal> {
  const refused = await planRefusal(views, context)
  if (refused) return refused
  const { query, now } = context
  const selection = selectCalls(context)
  if (isRefusal(selection)) return selection
  return query.asOf !== undefined && query.asOf > now
    ? refuse('bad-request', { asOf: 'must not be in the future' })
    : selection
}

function dimensionProblem(dimensions: readonly Dimension[]): string | null {
  if (dimensions.length > REPORT.dimensions) return `must name at most ${REPORT.dimensions} dimensions`
  return new Set(dimensions).size < dimensions.length ? 'must not name a dimension twice' : null
}

/** What a report is to say. */
export interface ReportSelection {
  readonly calls: CallSelection
  readonly groupBy: readonly Dimension[]
  readonly limit: number
  readonly sort: Metric | 'key'
  readonly dir: 'asc' | 'desc'
}

/** The selection of a report; a refusal that names each invalid field. */
export async function selectReport(
  views: Pick<ReadStore, 'getMany'>,
  context: Context<ReportQuery>,
): Promise<ReportSelection | ReportRefusal> {
  const { groupBy = [], limit = REPORT.limit.default, ...order } = context.query
  const calls = await selectBooks(views, context)
  if (isRefusal(calls)) return calls
  const problem = dimensionProblem(groupBy)
  if (problem !== null) return refuse('bad-request', { groupBy: problem })
  const { from, to, timezone } = calls
  const isLong =
    groupBy.includes('hour') && localLength(timezone, Date.parse(from), Date.parse(to)) > REPORT.hourDays * DAY_MS
  if (isLong)
    return refuse('bad-request', { from: `must be at most ${REPORT.hourDays} days before to in a report by hour` })
  const [first] = groupBy
  const sort = order.sort ?? (first !== undefined && isTimeDimension(first) ? 'key' : 'calls')
  const dir = order.dir ?? (sort === 'key' ? 'asc' : 'desc')
  return { calls, groupBy, limit, sort, dir }
}
