import { planMoved, subscriptionMoved, type Workspace, workspaceRecord } from '../../src/domain/access/tenant.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { changesOf } from '../../src/domain/shared/changes.ts'
import { missing, nothingToChange } from '../../src/domain/shared/refusals.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Changes what is set of a workspace, and what it stands on: all of it or nothing. */
export const changeWorkspace = defineCommand({
  name: 'change-workspace',
  entity: workspace,
  input: workspaceRecord.pick({ name: true, timezone: true, planId: true, subscriptionStatus: true }).partial(),
  rejects: ['validation-error', 'bad-request', 'workspace-not-found'],
  decide(changes, { workspace }) {
    if (!workspace) return missing('workspace')
    if (Object.keys(changes).length === 0) return nothingToChange()
    const { name, timezone, planId, subscriptionStatus } = changes
    const problem = timezone === undefined ? null : zoneProblem(timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    const named = { ...workspace, name: name ?? workspace.name }
    const difference = changesOf<Pick<Workspace, 'name' | 'timezone'>>(workspace, { name, timezone })
    return [
      ...(difference ? [{ type: 'WorkspaceChanged' as const, data: { name: named.name, ...difference } }] : []),
      ...planMoved(named, planId ?? workspace.planId),
      ...subscriptionMoved(named, subscriptionStatus ?? workspace.subscriptionStatus),
    ]
  },
})
