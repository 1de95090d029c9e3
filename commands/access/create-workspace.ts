import { z } from 'zod'
import { newWorkspace } from '../../src/domain/access/tenant.ts'
import { email, userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { nameSchema } from '../../src/domain/shared/fields.ts'
import { NAME } from '../../src/domain/shared/limits.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Begins a workspace, with its first owner at once; one that is there already stays as it is. */
export const createWorkspace = defineCommand({
  name: 'create-workspace',
  entity: workspace,
  input: newWorkspace.extend({
    /** A registered person. */
    owner: z.object({ email, name: nameSchema(NAME.user) }).optional(),
  }),
  rejects: ['validation-error'],
  decide({ owner, ...sent }, { workspace }, { now, workspaceId }) {
    if (workspace) return []
    const problem = zoneProblem(sent.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    const created = { ...sent, id: workspaceId, subscriptionStatus: 'active', createdAt: now } as const
    const seat = owner && {
      ...owner,
      userId: userIdOf(owner.email),
      role: 'owner' as const,
      workspaceId,
      workspaceName: sent.name,
    }
    return [
      { type: 'WorkspaceCreated', data: { workspace: created } },
      ...(seat ? [{ type: 'SeatGranted' as const, data: seat }] : []),
    ]
  },
})
