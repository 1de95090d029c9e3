import { z } from 'zod'
import { refuseLastOwner, refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Removes a seat. The last owner's seat stays. */
export const removeSeat = defineCommand({
  name: 'remove-seat',
  entity: workspace,
  input: z.object({ userId: id }),
  rejects: ['forbidden', 'user-not-found', 'conflict'],
  decide({ userId }, state, { actor, workspaceId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const seat = state.seats.get(userId)
    if (!seat) return refuseNotFound('user')
    const only = refuseLastOwner(state, seat)
    if (only) return only
    return [{ type: 'SeatRemoved', data: { workspaceId, userId, name: seat.name, role: seat.role } }]
  },
})
