import { z } from 'zod'
import { apiKeys } from '../../projections/access/api-keys.ts'
import { type ApiKey, apiKeyStatus } from '../../src/domain/access/api-key.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter } from '../../src/ports/read-store.ts'
import { listQuery, readListPage, textFilter } from '../shared/listing.ts'
import { apiKeyShape, apiKeyShapes } from './api-key-shape.ts'

/** The filter of stored keys that have a status at an instant (`apiKeyStatusAt`). */
const statusFilters: { readonly [Status in ApiKey['status']]: (now: string) => Filter } = {
  active: (now) => ({ status: 'active', $or: [{ revokesAt: null }, { revokesAt: { $lte: now } }] }),
  rotating: (now) => ({ status: 'active', revokesAt: { $gt: now } }),
  revoked: () => ({ status: 'revoked' }),
}

/** API keys, including revoked ones. */
export const listApiKeys = defineQuery({
  name: 'list-api-keys',
  summary: 'List API keys',
  mounts: [{ surface: 'console', path: '/api/tracking/api-keys' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    status: apiKeyStatus.optional(),
    ...listQuery('api-keys', ['createdAt', 'name']),
  }),
  response: pageOf(apiKeyShape),
  reads: [apiKeys],
  flushesUsage: true,
  async run({ views, ops }: QueryPorts, { query, tenant, now }) {
    const state = query.status ? statusFilters[query.status](now) : {}
    const search = textFilter(query.q, ['name', 'prefix'])
    const filter: Filter = { $and: [{ workspaceId: tenant.workspaceId }, state, search] }
    const { docs, respond } = await readListPage(views, apiKeys, filter, query)
    return respond(await apiKeyShapes(ops, now, docs))
  },
})
