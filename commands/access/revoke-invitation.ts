import { z } from 'zod'
import { revokeEvent } from '../../src/domain/access/invitation.ts'
import { refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Revokes an invitation: its token is worth nothing from then on. */
export const revokeInvitation = defineCommand({
  name: 'revoke-invitation',
  entity: workspace,
  input: z.object({ invitationId: id }),
  rejects: ['forbidden', 'invitation-not-found'],
  decide({ invitationId }, state, { actor, workspaceId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const invitation = state.invitations.get(invitationId)
    return invitation ? [revokeEvent(workspaceId, invitation)] : refuseNotFound('invitation')
  },
})
