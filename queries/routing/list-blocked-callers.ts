import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { blockedCallers } from '../../projections/routing/blocked-callers.ts'
import { blockScope } from '../../src/domain/routing/blocklist.ts'
import { BLOCK } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { contains, type Filter } from '../../src/ports/read-store.ts'
import { digitsOf } from '../shared/digits.ts'
import { readReferenced } from '../shared/documents.ts'
import { openCursor } from '../shared/list-cursor.ts'
import { pageFields, readListPage } from '../shared/listing.ts'
import { blockedCallerOf, blockedCallerShape } from './blocked-caller-shape.ts'

/** Digits of a caller that a block stores. */
const LAST_DIGITS = 10

/** Digits match the last ten digits of the caller; text matches the reason. */
function textFilter(text: string | undefined): Filter {
  if (!text) return {}
  const digits = digitsOf(text).slice(-LAST_DIGITS)
  return { $or: [{ reason: contains(text) }, ...(digits ? [{ callerLast10: contains(digits) }] : [])] }
}

/** Blocks of one campaign, in which case `scope` has no effect, or of a scope. */
function scopeFilter(campaignId: string | undefined, scope: z.infer<typeof blockScope> | undefined): Filter {
  if (campaignId) return { campaignId }
  return scope ? { campaignId: scope === 'workspace' ? null : { $ne: null } } : {}
}

/** Newest block first, also of those of one millisecond. */
const ORDER = { createdAt: -1, _position: -1 } as const

/** Blocked callers, newest block first. */
export const listBlockedCallers = defineQuery({
  name: 'list-blocked-callers',
  summary: 'List blocked callers',
  mounts: [
    { surface: 'rest', path: '/api/v1/blocked-callers', scope: 'blocklist:read' },
    { surface: 'console', path: '/api/tracking/blocked-callers' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(BLOCK.search).optional(),
    campaignId: id.optional(),
    scope: blockScope.optional(),
    ...pageFields('blocked-callers'),
  }),
  response: pageOf(blockedCallerShape),
  reads: [blockedCallers, campaigns],
  rejects: ['validation-error'],
  async run({ views, secrets }: QueryPorts, { query, tenant: { workspaceId } }) {
    const filter = { workspaceId, ...textFilter(query.q), ...scopeFilter(query.campaignId, query.scope) }
    // The position is one in the log of all workspaces, which a reader of one may not see.
    const asked = openCursor(query, secrets, workspaceId)
    if (isRefusal(asked)) return asked
    const { docs, respond } = await readListPage(views, blockedCallers, filter, asked, () => ORDER)
    const named = await readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId)
    return respond(docs.map((doc) => blockedCallerOf(doc, named.get(doc.campaignId ?? ''))))
  },
})
