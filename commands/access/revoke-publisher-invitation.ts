import { z } from 'zod'
import { revokePublisherInvitationEvent } from '../../src/domain/access/publisher-user.ts'
import { refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Revokes an invitation to a publisher's portal: its token is worth nothing from then on. */
export const revokePublisherInvitation = defineCommand({
  name: 'revoke-publisher-invitation',
  entity: workspace,
  input: z.object({ publisherId: id, invitationId: id }),
  rejects: ['forbidden', 'invitation-not-found'],
  decide({ publisherId, invitationId }, state, { actor, workspaceId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const invitation = state.publisherInvitations.get(invitationId)
    if (invitation?.publisherId !== publisherId) return refuseNotFound('invitation')
    const publisher = { id: publisherId, name: state.publishers.get(publisherId)?.name ?? '' }
    return [revokePublisherInvitationEvent(workspaceId, publisher, invitation)]
  },
})
