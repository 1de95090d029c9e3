import { z } from 'zod'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { keyShape, keyShapeOf, laneKeyShape } from './routing-key-shape.ts'

/** A routing key as its publisher sees it: as the lane shows it, with the campaign and the end of a running grace. */
export const portalKeyShape = laneKeyShape
  .extend(keyShape.pick({ campaignId: true, graceEndsAt: true }).shape)
  .meta({ id: 'PortalKey' })

/** A routing key of a publisher: never the key itself. */
export const getPortalKey = defineQuery({
  name: 'get-portal-key',
  summary: "Read one of the publisher's routing keys",
  mounts: [],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ key: portalKeyShape }),
  reads: [routingKeys],
  rejects: ['routing-key-not-found'],
  async run(ports: QueryPorts, { params, tenant, now }) {
    const key = await readOne(ports.views, routingKeys, tenant.workspaceId, params.id)
    if (key?.publisherId !== portalPublisher(tenant)) return refuse('routing-key-not-found')
    const { id, prefix, state, lastUsedAt, useCount, protocol, environment, requireSignature, issuedAt, ...others } =
      await keyShapeOf(ports, key, now)
    const { campaignId, graceEndsAt } = others
    const shown = { id, prefix, state, lastUsedAt, useCount, protocol, environment, requireSignature, issuedAt }
    return { key: { ...shown, campaignId, graceEndsAt } }
  },
})
