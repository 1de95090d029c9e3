import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import type { ActivityEntry } from '../../src/domain/activity/activity-entry.ts'
import type { CsvColumn } from '../../src/domain/shared/csv.ts'
import { EXPORT } from '../../src/domain/shared/limits.ts'
import { queryInteger } from '../../src/kernel/wire.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'
import { activityEntryOf, activityFilter, activityFilters, readLogHead } from './activity-filter.ts'

/** Query of an export of the activity log. */
export const activityExportQuery = z.object({
  ...activityFilters,
  limit: queryInteger({ min: 1, max: EXPORT.activity.max })
    .optional()
    .transform((limit) => limit ?? EXPORT.activity.default)
    .meta({ default: EXPORT.activity.default }),
})

const changedFields = ({ changes }: ActivityEntry, side: 'before' | 'after') =>
  JSON.stringify(Object.fromEntries(changes.map((change) => [change.field, change[side]])))

/** Columns of the exported activity log; changes are two columns of JSON, before and after. */
export const activityColumns: readonly CsvColumn<ActivityEntry>[] = [
  { heading: 'id', of: ({ id }) => id },
  { heading: 'at', of: ({ at }) => at },
  { heading: 'actorType', of: ({ actor }) => actor.type },
  { heading: 'actorId', of: ({ actor }) => actor.id },
  { heading: 'actorName', of: ({ actor }) => actor.name },
  { heading: 'kind', of: ({ kind }) => kind },
  { heading: 'action', of: ({ action }) => action },
  { heading: 'severity', of: ({ severity }) => severity },
  { heading: 'entityKind', of: ({ entity }) => entity.kind },
  { heading: 'entityId', of: ({ entity }) => entity.id },
  { heading: 'entityName', of: ({ entity }) => entity.name },
  { heading: 'summary', of: ({ summary }) => summary },
  { heading: 'before', of: (entry) => changedFields(entry, 'before') },
  { heading: 'after', of: (entry) => changedFields(entry, 'after') },
  { heading: 'ip', of: ({ ip }) => ip },
  { heading: 'requestId', of: ({ requestId }) => requestId },
  { heading: 'position', of: ({ position }) => position },
  { heading: 'hash', of: ({ hash }) => hash },
]

/** Entries that pass a query, newest first, in batches, `limit` in all. Entries added meanwhile do not shift them. */
export async function* activityBatches(
  views: Pick<ReadStore, 'get' | 'find'>,
  workspaceId: string,
  { limit, ...query }: z.output<typeof activityExportQuery>,
): AsyncGenerator<readonly ActivityEntry[]> {
  const named = activityFilter(workspaceId, await readLogHead(views, workspaceId), query)
  let below = Number.MAX_SAFE_INTEGER
  for (let left = limit; left > 0; ) {
    const filter = { $and: [named, { seq: { $lt: below } }] }
    const batch = await readAll(views, activity, { filter, sort: { seq: -1 }, limit: Math.min(left, EXPORT.batch) })
    yield batch.map(activityEntryOf)
    const last = batch.at(-1)
    if (!last || batch.length < EXPORT.batch) return
    below = last.seq
    left -= batch.length
  }
}
