import { z } from 'zod'
import { activity } from '../../projections/activity/activity.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { instant, queryInstant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { timeWindowProblem } from '../shared/time-window.ts'
import { checkChain } from './activity-chain.ts'

/**
 * Verifies the hash chain of the activity log. `entries` is the number of valid entries; `head` the hash of the last of
 * them; `brokenAt` the first entry that does not follow its predecessor or, where the newest entries are missing, the
 * newest entry that the log ever had.
 */
export const verifyActivity = defineQuery({
  name: 'verify-activity',
  summary: 'Verify the activity log',
  mounts: [{ surface: 'console', path: '/api/tracking/activity/verify' }],
  params: z.object({}),
  query: z.object({ from: queryInstant.optional(), to: queryInstant.optional() }),
  response: z.object({
    ok: z.boolean(),
    entries: z.int(),
    head: z.string().nullable(),
    brokenAt: z.object({ id: z.string(), at: instant, position: z.int() }).nullable(),
  }),
  reads: [activity],
  rejects: ['validation-error'],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const problem = timeWindowProblem(query)
    if (problem) return problem
    const { entries, last, broken } = await checkChain(views, workspaceId, query)
    const brokenAt = broken && { id: broken.id, at: broken.at, position: broken.position }
    return { ok: broken === null, entries, head: last?.hash ?? null, brokenAt }
  },
})
