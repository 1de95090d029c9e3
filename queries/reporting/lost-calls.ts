import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { bookRows } from '../../projections/reporting/book-rows.ts'
import { ASSUMPTIONS } from '../../src/domain/reporting/lost-call.ts'
import { REPORT } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Scalar } from '../../src/ports/read-store.ts'
import { callFilters } from '../shared/call-filter.ts'
import { asOfMs } from './as-of.ts'
import { bookSelectionOf } from './book-selection.ts'
import { namesIn } from './report-dimension.ts'
import { selectBooks } from './report-filter.ts'
import { type BookGroup, sumBooks } from './sum-books.ts'

const lost = { calls: z.int(), lostCents: z.int() }
const lostTarget = z.object({ id, name: z.string(), ...lost }).meta({ id: 'LostTarget' })
const judged = { calls: z.int(), judged: z.int(), lostCents: z.int() }
const lostReason = z.object({ reason: z.string(), ...judged, targets: z.array(lostTarget) }).meta({ id: 'LostReason' })

/** Sums of the groups of one reason, those of a target apart. */
function lostFor(groups: readonly BookGroup[], names: ReadonlyMap<Scalar, string | null>) {
  const targets = groups.flatMap(({ key: [, targetId], sums: { calls, lostCents } }) =>
    typeof targetId === 'string' ? [{ id: targetId, name: names.get(targetId) ?? targetId, calls, lostCents }] : [],
  )
  const add = (of: readonly { readonly calls: number }[]) => of.reduce((sum, { calls }) => sum + calls, 0)
  return {
    calls: add(groups.map(({ sums }) => sums)),
    judged: add(targets),
    lostCents: targets.reduce((sum, { lostCents }) => sum + lostCents, 0),
    targets: targets
      .toSorted((one, other) => other.lostCents - one.lostCents || (one.id < other.id ? -1 : 1))
      .slice(0, REPORT.lostTargets),
  }
}

/** What unrouted and missed calls would have brought, by the reason for which nobody took them (Supplement §10). */
export const lostCalls = defineQuery({
  name: 'lost-calls',
  summary: 'Report on lost calls',
  mounts: [
    { surface: 'rest', path: '/api/v1/reports/lost', scope: 'reports:read' },
    { surface: 'console', path: '/api/tracking/reports/lost' },
  ],
  params: z.object({}),
  query: z.object(callFilters),
  response: z.object({
    reasons: z.array(lostReason),
    totals: z.object(judged).meta({ id: 'LostTotals' }),
    assumptions: z.array(z.string()),
    from: instant,
    to: instant,
    timezone: z.string(),
  }),
  reads: [bookRows, callLog, workspaces],
  rejects: ['bad-request', 'plan-upgrade-required'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const calls = await selectBooks(views, { query, tenant, now })
    if (isRefusal(calls)) return calls
    const { from, to, timezone } = calls
    const { workspaceId } = tenant
    const rows = {
      selection: bookSelectionOf(calls, workspaceId),
      asOfMs: await asOfMs(views, workspaceId, undefined, Date.parse(now)),
    }
    const groupBy = [{ path: 'lost.reason' }, { path: 'lost.targetId' }]
    const found = await sumBooks(views, { ...rows, groupBy, withLost: true })
    const groups = found.filter(({ key: [reason] }) => typeof reason === 'string')
    const names = await namesIn(views, rows, 'lost.targetId', 'lost.targetName')
    const { targets: _, ...totals } = lostFor(groups, names)
    return {
      reasons: [...Map.groupBy(groups, ({ key: [reason] }) => String(reason))]
        .map(([reason, own]) => ({ reason, ...lostFor(own, names) }))
        .toSorted((one, other) => other.lostCents - one.lostCents || (one.reason < other.reason ? -1 : 1)),
      totals,
      assumptions: [...ASSUMPTIONS],
      from,
      to,
      timezone,
    }
  },
})
