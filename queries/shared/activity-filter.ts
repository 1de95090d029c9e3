import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import { type ActivityEntry, activityKind, severity } from '../../src/domain/activity/activity-entry.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { queryInstant } from '../../src/kernel/wire.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readOne, type WithId } from './documents.ts'
import { textFilter } from './listing.ts'

/** The filters of the activity log, to be spread into a query (Supplement §10). */
export const activityFilters = {
  from: queryInstant.optional(),
  to: queryInstant.optional(),
  actorId: z.string().max(SEARCH.text).optional(),
  kind: activityKind.optional(),
  severity: severity.optional(),
  q: z.string().max(SEARCH.text).optional(),
  entityId: z.string().max(SEARCH.text).optional(),
}
const activityQuery = z.object(activityFilters)
type ActivityQuery = Readonly<z.infer<typeof activityQuery>>

/** An entry as it is kept. */
export type ActivityDocument = WithId<DocOf<typeof activity>>

/** The window of a query: `from` and on, before `to`. */
export function windowOf({ from, to }: Pick<ActivityQuery, 'from' | 'to'>): Filter {
  const at = { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) }
  return Object.keys(at).length === 0 ? {} : { at }
}

/** Refuses a window that ends before it begins; null for any other. */
export function windowProblem({ from, to }: Pick<ActivityQuery, 'from' | 'to'>): Refusal<'validation-error'> | null {
  return from !== undefined && to !== undefined && from > to
    ? refuse('validation-error', { from: 'must not be after to' })
    : null
}

/** The newest entry of a workspace's log; null where there is none. */
export function readLogHead(views: Pick<ReadStore, 'get'>, workspaceId: string): Promise<ActivityDocument | null> {
  return readOne(views, activity, workspaceId, workspaceId)
}

/** The entries that a query names, up to the head: what lies beyond it is still being written. */
export function activityFilter(workspaceId: string, head: ActivityDocument | null, query: ActivityQuery): Filter {
  const named = Object.entries({
    'actor.id': query.actorId,
    kind: query.kind,
    severity: query.severity,
    'entity.id': query.entityId,
  }).filter(([, value]) => value !== undefined)
  return {
    workspaceId,
    head: false,
    seq: { $lte: head?.seq ?? 0 },
    ...Object.fromEntries(named),
    ...windowOf(query),
    ...textFilter(query.q, ['summary', 'actor.name', 'entity.name']),
  }
}

/** An entry as it is answered. */
export function activityEntryOf(kept: ActivityDocument): ActivityEntry {
  const { id, workspaceId: _workspaceId, seq: _seq, head: _head, entryId: _entryId, ...entry } = kept
  return { id, ...entry }
}
