import { route, routeEvents, routeKey } from '../../src/domain/campaigns/route.ts'
import { targetEvents } from '../../src/domain/demand/target.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { TargetStatusChanged } = targetEvents

/** Routing plans: one document for each target on a campaign, by `routeKey`. */
export const routes = defineProjection({
  name: 'routes',
  version: 1,
  events: { ...routeEvents, TargetStatusChanged },
  doc: route.omit({ id: true }).extend({ workspaceId: id, routeId: id }),
  indexes: [
    { workspaceId: 1, campaignId: 1, createdAt: 1 },
    { workspaceId: 1, targetId: 1, createdAt: 1 },
  ],
  key(event) {
    if (event.type === 'TargetStatusChanged')
      return event.data.removedFrom.map((campaignId) => routeKey(campaignId, event.data.targetId))
    const { campaignId, targetId } = event.type === 'RouteSet' ? event.data.route : event.data
    return routeKey(campaignId, targetId)
  },
  create: {
    RouteSet(event) {
      const { id: routeId, ...settings } = event.data.route
      return { ...settings, routeId, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    RouteSet(doc, { data: { route } }) {
      const { id: routeId, ...settings } = route
      return { ...doc, ...settings, routeId }
    },
    RouteRemoved: () => null,
    TargetStatusChanged: () => null,
  },
})
