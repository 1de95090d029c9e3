import { z } from 'zod'
import { refuseLastOwner, refuseUnlessOwner, role } from '../../src/domain/access/seat.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the role of a seat. The last owner keeps that role. */
export const changeSeatRole = defineCommand({
  name: 'change-seat-role',
  entity: workspace,
  input: z.object({ userId: id, role }),
  rejects: ['forbidden', 'user-not-found', 'conflict'],
  decide({ userId, role }, state, { actor, workspaceId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const seat = state.seats.get(userId)
    if (!seat) return refuseNotFound('user')
    if (seat.role === role) return []
    const only = refuseLastOwner(state, seat)
    if (only) return only
    return [{ type: 'SeatRoleChanged', data: { workspaceId, userId, name: seat.name, from: seat.role, to: role } }]
  },
})
