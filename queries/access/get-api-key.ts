import { z } from 'zod'
import { apiKeys } from '../../projections/access/api-keys.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { apiKeyShape, apiKeyShapes } from './api-key-shape.ts'

/** An API key, revoked or not. */
export const getApiKey = defineQuery({
  name: 'get-api-key',
  summary: 'Read an API key',
  mounts: [{ surface: 'console', path: '/api/tracking/api-keys/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ apiKey: apiKeyShape }),
  reads: [apiKeys],
  flushesUsage: true,
  rejects: ['api-key-not-found'],
  record: ({ id }) => id,
  async run({ views, ops }: QueryPorts, { params, tenant, now }) {
    const doc = await readOne(views, apiKeys, tenant.workspaceId, params.id)
    const [apiKey] = doc ? await apiKeyShapes(ops, now, [doc]) : []
    return apiKey ? { apiKey } : refuse('api-key-not-found')
  },
})
