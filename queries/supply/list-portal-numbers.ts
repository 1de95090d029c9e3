import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { contains } from '../../src/ports/read-store.ts'
import { openCursor } from '../shared/list-cursor.ts'
import { listQuery, readListPage, statusFilter } from '../shared/listing.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { numberShape, numberShapes } from './number-shape.ts'

/** A number as its publisher sees it: nothing of its rent, and of its calls those of the publisher alone. */
const portalNumber = numberShape
  .pick({
    id: true,
    e164: true,
    national: true,
    formatted: true,
    type: true,
    region: true,
    locality: true,
    calls30d: true,
    lastCallAt: true,
  })
  .extend({ campaign: named.nullable() })
  .meta({ id: 'PortalNumber' })

/** The numbers whose calls earn a publisher its payout. */
export const listPortalNumbers = defineQuery({
  name: 'list-portal-numbers',
  summary: "List the publisher's numbers",
  mounts: [{ surface: 'portal', path: '/api/portal/numbers' }],
  params: z.object({}),
  query: z.object({
    /** Digits alone: the console's text filter would match labels too, which are the workspace's own. */
    q: z
      .string()
      .max(SEARCH.number)
      .regex(/^\+?\d*$/, { error: 'must be digits of the number' })
      .optional(),
    campaignId: id.optional(),
    ...listQuery('portal-numbers', ['createdAt', 'e164']),
  }),
  response: pageOf(portalNumber),
  reads: [numbers, campaigns, publishers, pools, callLog],
  rejects: ['validation-error'],
  async run({ views, secrets }: QueryPorts, { query, ...request }) {
    const publisherId = portalPublisher(request.tenant)
    const { workspaceId } = request.tenant
    // A publisher does not see when its numbers were created.
    const asked = openCursor(query, secrets, workspaceId)
    if (isRefusal(asked)) return asked
    const filter = {
      workspaceId,
      publisherId,
      ...statusFilter(undefined, 'released'),
      ...(query.q && { e164: contains(query.q) }),
      ...(query.campaignId && { campaignId: query.campaignId }),
    }
    const { docs, respond } = await readListPage(views, numbers, filter, asked)
    const shapes = await numberShapes(views, request, docs)
    const data = shapes.map(
      ({ id, e164, national, formatted, type, region, locality, calls30d, lastCallAt, campaign }) => ({
        id,
        e164,
        national,
        formatted,
        type,
        region,
        locality,
        campaign: campaign && { id: campaign.id, name: campaign.name },
        calls30d,
        lastCallAt,
      }),
    )
    return respond(data)
  },
})
