import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import { activityEntry } from '../../src/domain/activity/activity-entry.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf, skipOf, sortDirection } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readPage } from '../shared/documents.ts'
import { pageFields, pageResponse } from '../shared/listing.ts'
import { timeWindowProblem } from '../shared/time-window.ts'
import { activityEntryOf, activityFilter, activityFilters, readLogHead } from './activity-filter.ts'

/** The activity log, newest first unless the query orders otherwise (Document 1, shared convention 7; Supplement §10). */
export const listActivity = defineQuery({
  name: 'list-activity',
  summary: 'List the activity log',
  mounts: [{ surface: 'console', path: '/api/tracking/activity' }],
  params: z.object({}),
  query: z.object({ ...activityFilters, ...pageFields, dir: sortDirection }),
  response: pageOf(activityEntry),
  reads: [activity],
  rejects: ['validation-error'],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const problem = timeWindowProblem(query)
    if (problem) return problem
    const filter = activityFilter(workspaceId, await readLogHead(views, workspaceId), query)
    const window = { sort: { seq: query.dir === 'asc' ? 1 : -1 }, skip: skipOf(query), limit: query.pageSize } as const
    const { docs, total } = await readPage(views, activity, filter, window)
    return pageResponse(docs.map(activityEntryOf), query, total)
  },
})
