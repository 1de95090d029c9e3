import { acceptance, isOpen } from '../../src/domain/access/invitation.ts'
import { publisherUserId } from '../../src/domain/access/publisher-user.ts'
import { userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Makes a person, who has proved to own the invited account, a user of the publisher of an open invitation. */
export const acceptPublisherInvitation = defineCommand({
  name: 'accept-publisher-invitation',
  entity: workspace,
  input: acceptance,
  rejects: ['invitation-not-found'],
  decide({ invitationId, tokenHash, person }, state, { workspaceId, now }) {
    const userId = userIdOf(person.email)
    const invitation = state.publisherInvitations.get(invitationId)
    const isTheirs = invitation?.tokenHash === tokenHash && userIdOf(invitation.email) === userId
    if (!invitation || !isTheirs || !isOpen(invitation, now)) return refuseNotFound('invitation')
    const { publisherId } = invitation
    const publisher = { id: publisherId, name: state.publishers.get(publisherId)?.name ?? '' }
    const added = { workspaceId, publisher, userId, ...person }
    return [
      { type: 'PublisherInvitationAccepted', data: { ...added, invitationId } },
      ...(state.publisherUsers.has(publisherUserId(publisherId, userId))
        ? []
        : [{ type: 'PublisherUserAdded' as const, data: added }]),
    ]
  },
})
