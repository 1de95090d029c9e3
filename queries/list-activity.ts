import { z } from 'zod'
import { activity } from '../projections/activity.ts'
import { activityEntry } from '../src/domain/activity-entry.ts'
import { LARGEST_PAGE_SIZE, PAGE_SIZE } from '../src/domain/limits.ts'
import { defineQuery } from '../src/kernel/query.ts'
import { pageOf, pageQuery, skipOf, totalPages } from '../src/kernel/wire.ts'
import type { QueryPorts } from '../src/ports/query-ports.ts'
import { activityFilters, entriesOf, entryShape, headOf, windowProblem } from './activity-filter.ts'
import { readPage } from './documents.ts'

/** Who did what, newest first (Document 1, shared convention 7; Supplement §10). */
export const listActivity = defineQuery({
  name: 'list-activity',
  summary: 'List the activity log',
  mounts: [{ surface: 'console', path: '/api/tracking/activity' }],
  params: z.object({}),
  query: z.object({ ...activityFilters, ...pageQuery({ size: PAGE_SIZE, largest: LARGEST_PAGE_SIZE }) }),
  response: pageOf(activityEntry),
  reads: [activity],
  rejects: ['validation-error'],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const problem = windowProblem(query)
    if (problem) return problem
    const { page, pageSize } = query
    const filter = entriesOf(workspaceId, await headOf(views, workspaceId), query)
    const window = { sort: { seq: -1 }, skip: skipOf(query), limit: pageSize } as const
    const { docs, total } = await readPage(views, activity, filter, window)
    return { data: docs.map(entryShape), page, pageSize, total, totalPages: totalPages(total, pageSize) }
  },
})
