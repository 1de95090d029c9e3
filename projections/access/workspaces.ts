import { tenantEvents, workspaceRecord } from '../../src/domain/access/tenant.ts'
import { changed } from '../../src/domain/shared/changes.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Workspaces, by id: what access and every screen's calendar go by. */
export const workspaces = defineProjection({
  name: 'workspaces',
  version: 2,
  events: tenantEvents,
  doc: workspaceRecord.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ createdAt: -1 }, { name: 1 }],
  key: workspaceIdOf,
  starts: {
    WorkspaceCreated({ data: { workspace } }) {
      const { id: workspaceId, ...record } = workspace
      return { ...record, workspaceId }
    },
  },
  on: {
    SubscriptionChanged: (doc, { data }) => ({ ...doc, subscriptionStatus: data.to }),
    PlanChanged: (doc, { data }) => ({ ...doc, planId: data.to }),
    WorkspaceChanged: (doc, { data }) => changed(doc, data.after),
  },
})
