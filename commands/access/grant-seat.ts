import { z } from 'zod'
import { refuseUnlessOwner, role } from '../../src/domain/access/seat.ts'
import { email, userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { nameSchema } from '../../src/domain/shared/fields.ts'
import { NAME } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Gives a registered user a seat in the workspace. */
export const grantSeat = defineCommand({
  name: 'grant-seat',
  entity: workspace,
  input: z.object({ email, name: nameSchema(NAME.user), role }),
  rejects: ['workspace-not-found', 'forbidden', 'conflict'],
  decide({ email, name, role }, state, { actor, workspaceId }) {
    const { workspace, seats } = state
    if (!workspace) return refuseNotFound('workspace')
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const userId = userIdOf(email)
    if (seats.has(userId)) return refuse('conflict', { email }, 'This person already has a seat in the workspace.')
    return [{ type: 'SeatGranted', data: { userId, email, name, role, workspaceId, workspaceName: workspace.name } }]
  },
})
