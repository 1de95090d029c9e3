import { z } from 'zod'
import { routeEvents } from '../../src/domain/campaigns/route.ts'
import { target, targetEvents, targetKind, targetKindOf, withHealthCheck } from '../../src/domain/demand/target.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Targets by id, with the campaigns whose routing plan contains them. */
export const targets = defineProjection({
  name: 'targets',
  version: 2,
  events: { ...targetEvents, ...routeEvents },
  doc: target
    .omit({ id: true })
    .extend({ workspaceId: id, targetId: id, kind: targetKind, campaignIds: z.array(id).readonly() }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, status: 1, createdAt: -1 },
    { workspaceId: 1, buyerId: 1, createdAt: 1 },
  ],
  key(event) {
    if (event.type === 'TargetCreated') return event.data.target.id
    return event.type === 'RouteSet' ? event.data.route.targetId : event.data.targetId
  },
  create: {
    TargetCreated(event) {
      const { id: targetId, ...record } = event.data.target
      return { ...record, targetId, kind: targetKindOf(record), campaignIds: [], workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    TargetChanged(doc, { data, meta }) {
      const next = applyPatch({ ...doc, updatedAt: meta.at }, data.after)
      return { ...next, kind: targetKindOf(next) }
    },
    TargetStatusChanged: (doc, { data, meta }) => ({
      ...doc,
      status: data.to,
      campaignIds: doc.campaignIds.filter((campaignId) => !data.removedFrom.includes(campaignId)),
      updatedAt: meta.at,
    }),
    TargetTested: (doc, { data }) => withHealthCheck(doc, data.occurredAt),
    RouteSet: (doc, { data: { route, before } }) =>
      before === null ? { ...doc, campaignIds: [...doc.campaignIds, route.campaignId] } : doc,
    RouteRemoved: (doc, { data }) => ({
      ...doc,
      campaignIds: doc.campaignIds.filter((campaignId) => campaignId !== data.campaignId),
    }),
  },
})
