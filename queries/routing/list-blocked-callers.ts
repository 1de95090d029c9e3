import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { blockedCallers } from '../../projections/routing/blocked-callers.ts'
import { blockScope } from '../../src/domain/routing/blocklist.ts'
import { BLOCK } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { cursorPageOf, id, skipOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { contains, type Filter } from '../../src/ports/read-store.ts'
import { digitsOf } from '../shared/digits.ts'
import { readPage, readReferenced } from '../shared/documents.ts'
import { CURSOR_ERROR, type ListPlace } from '../shared/list-cursor.ts'
import { atCursor, cursorPageFields, cursorPageResponse } from '../shared/listing.ts'
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

/** Seals the position of a place in the list: a reader of one workspace may not see how far the log of all has come. */
function createPlaceSealing(secrets: QueryPorts['secrets'], workspaceId: string) {
  const own = { purpose: 'blocked-caller-cursor', path: [workspaceId] }
  return {
    seal: ({ id, values: [createdAt = null, position] }: ListPlace): ListPlace => ({
      id,
      values: [createdAt, secrets.seal(String(position), own)],
    }),
    /** Null for a place that was not sealed here. */
    unseal({ id, values: [createdAt = null, sealed] }: ListPlace): ListPlace | null {
      try {
        return { id, values: [createdAt, Number(secrets.unseal(String(sealed), own))] }
      } catch {
        return null
      }
    },
  }
}

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
    ...cursorPageFields,
  }),
  response: cursorPageOf(blockedCallerShape),
  reads: [blockedCallers, campaigns],
  rejects: ['validation-error'],
  async run({ views, secrets }: QueryPorts, { query, tenant: { workspaceId } }) {
    const filter = { workspaceId, ...textFilter(query.q), ...scopeFilter(query.campaignId, query.scope) }
    const asked = atCursor(query)
    const { seal, unseal } = createPlaceSealing(secrets, workspaceId)
    const after = asked.after && unseal(asked.after)
    if (asked.after && after === null) return refuse('validation-error', { cursor: CURSOR_ERROR })
    const page = { sort: ORDER, skip: skipOf(asked), limit: asked.pageSize, after }
    const { docs, total, next } = await readPage(views, blockedCallers, filter, page)
    const named = await readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId)
    const rows = docs.map((doc) => blockedCallerOf(doc, named.get(doc.campaignId ?? '')))
    return cursorPageResponse(rows, asked, { total, next: next && seal(next) })
  },
})
