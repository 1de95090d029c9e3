import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { routes } from '../../projections/campaigns/routes.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { campaignStatus, routingMode } from '../../src/domain/campaigns/campaign.ts'
import { routeSettings } from '../../src/domain/campaigns/route.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readAll, readOne, readReferenced } from '../shared/documents.ts'
import { targetShape, targetShapes } from './target-shape.ts'

const routeShape = routeSettings
  .extend({
    id,
    campaignId: id,
    campaign: z.object({ id, name: z.string(), status: campaignStatus, routingMode }).nullable(),
  })
  .meta({ id: 'TargetRoute' })

async function routesOf(views: ReadStore, workspaceId: string, targetId: string) {
  const plan = await readAll(views, routes, { filter: { workspaceId, targetId }, sort: { createdAt: 1 } })
  const named = await readReferenced(views, campaigns, plan, ({ campaignId }) => campaignId)
  return plan.map(({ routeId, campaignId, priority, weight, active, revenueOverrideCents }) => {
    const found = named.get(campaignId)
    const campaign = found && { id: found.id, name: found.name, status: found.status, routingMode: found.routingMode }
    return { id: routeId, campaignId, campaign: campaign ?? null, priority, weight, active, revenueOverrideCents }
  })
}

/** The response of reading a target. */
export const targetResponse = z.object({
  target: targetShape.extend({ routes: z.array(routeShape) }).meta({ id: 'Target' }),
})

/** A target with its routes on all routing plans. */
export const getTarget = defineQuery({
  name: 'get-target',
  summary: 'Read a target',
  mounts: [
    { surface: 'rest', path: '/api/v1/targets/:id', scope: 'targets:read' },
    { surface: 'console', path: '/api/tracking/targets/:id' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: targetResponse,
  reads: [targets, buyers, routes, campaigns, capCounters, callLog],
  rejects: ['target-not-found'],
  record: ({ id }) => id,
  async run({ views, secrets }: QueryPorts, { params, surface, ...request }) {
    const { workspaceId } = request.tenant
    const doc = await readOne(views, targets, workspaceId, params.id)
    if (!doc) return refuse('target-not-found')
    const [shapes, plan] = await Promise.all([
      targetShapes(views, request, [doc], { open: surface === 'rest' ? null : secrets }),
      routesOf(views, workspaceId, doc.id),
    ])
    const [target] = shapes
    return target ? { target: { ...target, routes: plan } } : refuse('target-not-found')
  },
})
