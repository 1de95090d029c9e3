import { z } from 'zod'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { keyShape, keyShapeOf } from './routing-key-shape.ts'

/** A publisher's routing key: its settings, never the key itself. */
export const getRoutingKey = defineQuery({
  name: 'get-routing-key',
  summary: "Read a publisher's routing key",
  mounts: [{ surface: 'console', path: '/api/publishers/keys/:keyId' }],
  params: z.object({ keyId: id }),
  query: z.object({}),
  response: z.object({ key: keyShape }),
  reads: [routingKeys],
  rejects: ['routing-key-not-found'],
  record: ({ keyId }) => keyId,
  flushesUsage: true,
  async run(ports: QueryPorts, { params, tenant: { workspaceId }, now }) {
    const key = await readOne(ports.views, routingKeys, workspaceId, params.keyId)
    return key ? { key: await keyShapeOf(ports, key, now) } : refuse('routing-key-not-found')
  },
})
