import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import { activityEntry } from '../../src/domain/activity/activity-entry.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf, sortDirection } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { pageFields, readListPage } from '../shared/listing.ts'
import { timeWindowProblem } from '../shared/time-window.ts'
import { activityEntryOf, activityFilter, activityFilters, readLogHead } from './activity-filter.ts'

/** The activity log, newest first unless the query orders otherwise (Document 1, shared convention 7; Supplement §10). */
export const listActivity = defineQuery({
  name: 'list-activity',
  summary: 'List the activity log',
  mounts: [{ surface: 'console', path: '/api/tracking/activity' }],
  params: z.object({}),
  query: z.object({ ...activityFilters, ...pageFields('activity'), dir: sortDirection }),
  response: pageOf(activityEntry),
  reads: [activity],
  rejects: ['validation-error'],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const problem = timeWindowProblem(query)
    if (problem) return problem
    const filter = activityFilter(workspaceId, await readLogHead(views, workspaceId), query)
    const { docs, respond } = await readListPage(views, activity, filter, query, (_sort, way) => ({ seq: way }))
    return respond(docs.map(activityEntryOf))
  },
})
