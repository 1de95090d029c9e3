import { z } from 'zod'
import { newWorkspace } from '../../src/domain/access/tenant.ts'
import { email, userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { nameSchema } from '../../src/domain/shared/fields.ts'
import { NAME } from '../../src/domain/shared/limits.ts'
import { refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Creates a workspace with its first owner. An existing workspace stays as it is. */
export const createWorkspace = defineCommand({
  name: 'create-workspace',
  entity: workspace,
  input: newWorkspace.extend({
    /** A registered user. */
    owner: z.object({ email, name: nameSchema(NAME.user) }).optional(),
  }),
  rejects: ['validation-error'],
  decide({ owner, ...input }, { workspace }, { now, workspaceId }) {
    if (workspace) return []
    const unknownZone = refuseUnknownZone(input.timezone)
    if (unknownZone) return unknownZone
    const created = { ...input, id: workspaceId, subscriptionStatus: 'active', createdAt: now } as const
    const seat = owner && {
      ...owner,
      userId: userIdOf(owner.email),
      role: 'owner' as const,
      workspaceId,
      workspaceName: input.name,
    }
    return [
      { type: 'WorkspaceCreated', data: { workspace: created } },
      ...(seat ? [{ type: 'SeatGranted' as const, data: seat }] : []),
    ]
  },
})
