import {
  planChangedEvents,
  subscriptionChangedEvents,
  type Workspace,
  workspaceRecord,
} from '../../src/domain/access/tenant.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound, refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Changes a workspace's settings, plan and subscription status, all or none. */
export const changeWorkspace = defineCommand({
  name: 'change-workspace',
  entity: workspace,
  input: workspaceRecord.pick({ name: true, timezone: true, planId: true, subscriptionStatus: true }).partial(),
  rejects: ['validation-error', 'bad-request', 'workspace-not-found'],
  decide(changes, { workspace }) {
    if (!workspace) return refuseNotFound('workspace')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const { name, timezone, planId, subscriptionStatus } = changes
    const unknownZone = refuseUnknownZone(timezone)
    if (unknownZone) return unknownZone
    const named = { ...workspace, name: name ?? workspace.name }
    const difference = diff<Pick<Workspace, 'name' | 'timezone'>>(workspace, { name, timezone })
    return [
      ...(difference ? [{ type: 'WorkspaceChanged' as const, data: { name: named.name, ...difference } }] : []),
      ...planChangedEvents(named, planId ?? workspace.planId),
      ...subscriptionChangedEvents(named, subscriptionStatus ?? workspace.subscriptionStatus),
    ]
  },
})
