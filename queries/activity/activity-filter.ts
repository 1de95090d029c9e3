import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import { type ActivityEntry, activityKind, severity } from '../../src/domain/activity/activity-entry.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readOne } from '../shared/documents.ts'
import { textFilter } from '../shared/listing.ts'
import { timeWindowFields, timeWindowFilter } from '../shared/time-window.ts'

/** The filters of the activity log, to be spread into a query (Supplement §10). */
export const activityFilters = {
  ...timeWindowFields,
  actorId: z.string().max(SEARCH.text).optional(),
  kind: activityKind.optional(),
  severity: severity.optional(),
  q: z.string().max(SEARCH.text).optional(),
  entityId: z.string().max(SEARCH.text).optional(),
}
const activityQuery = z.object(activityFilters)
type ActivityQuery = Readonly<z.infer<typeof activityQuery>>

/** A stored entry. */
export type ActivityDocument = WithId<DocOf<typeof activity>>

/** The newest entry of a workspace's log; null when it is empty. */
export function readLogHead(views: Pick<ReadStore, 'get'>, workspaceId: string): Promise<ActivityDocument | null> {
  return readOne(views, activity, workspaceId, workspaceId)
}

/** The entries that a query selects, up to the head: entries beyond it are still being written. */
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
    ...timeWindowFilter(query),
    ...textFilter(query.q, ['summary', 'actor.name', 'entity.name']),
  }
}

/** An entry in a response. */
export function activityEntryOf(document: ActivityDocument): ActivityEntry {
  const { id, workspaceId: _workspaceId, seq: _seq, head: _head, entryId: _entryId, ...entry } = document
  return { id, ...entry }
}
