import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { targetKind, targetStatus, targetType } from '../../src/domain/demand/target.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { healthFilter } from '../routing/health-figures.ts'
import { health } from '../routing/usage-figures.ts'
import { readOne } from '../shared/documents.ts'
import { listQuery, RECORD_SORTS, readListPage, statusFilter, textFilter } from '../shared/listing.ts'
import { targetShape, targetShapes } from './target-shape.ts'

/** Targets, each with today's figures; bidder headers and templates are hidden from keys. */
export const listTargets = defineQuery({
  name: 'list-targets',
  summary: 'List targets',
  mounts: [
    { surface: 'rest', path: '/api/v1/targets', scope: 'targets:read' },
    { surface: 'console', path: '/api/tracking/targets' },
  ],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    status: targetStatus.optional(),
    buyerId: id.optional(),
    type: targetType.optional(),
    kind: targetKind.optional(),
    health: health.shape.health.optional(),
    campaignId: id.optional(),
    ...listQuery('targets', RECORD_SORTS),
  }),
  response: pageOf(targetShape),
  reads: [targets, buyers, campaigns, capCounters, callLog],
  cacheable: true,
  rejects: ['campaign-not-found'],
  async run({ views, secrets }: QueryPorts, { query, surface, ...request }) {
    const { workspaceId } = request.tenant
    const { buyerId, type, kind, campaignId } = query
    if (campaignId && !(await readOne(views, campaigns, workspaceId, campaignId))) return refuse('campaign-not-found')
    const filter = {
      workspaceId,
      ...statusFilter(query.status, 'archived'),
      ...textFilter(query.q, ['name', 'externalRef']),
      ...(buyerId && { buyerId }),
      ...(type && { type }),
      ...(kind && { kind }),
      ...(campaignId && { campaignIds: campaignId }),
      ...(query.health && (await healthFilter(views, workspaceId, query.health))),
    }
    const { docs, respond } = await readListPage(views, targets, filter, query)
    return respond(await targetShapes(views, request, docs, { open: surface === 'rest' ? null : secrets }))
  },
})
