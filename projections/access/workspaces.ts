import { tenantEvents, workspaceRecord } from '../../src/domain/access/tenant.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Workspaces by id, for access checks and the time zone of screens. */
export const workspaces = defineProjection({
  name: 'workspaces',
  version: 2,
  events: tenantEvents,
  doc: workspaceRecord.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ createdAt: -1 }, { name: 1 }],
  key: workspaceIdOf,
  create: {
    WorkspaceCreated({ data: { workspace } }) {
      const { id: workspaceId, ...record } = workspace
      return { ...record, workspaceId }
    },
  },
  update: {
    SubscriptionChanged: (doc, { data }) => ({ ...doc, subscriptionStatus: data.to }),
    PlanChanged: (doc, { data }) => ({ ...doc, planId: data.to }),
    WorkspaceChanged: (doc, { data }) => applyPatch(doc, data.after),
  },
})
