import { invitationEnd } from '../../src/domain/access/invitation.ts'
import {
  openPublisherInvitations,
  publisherInvitation,
  publisherUserId,
  revokePublisherInvitationEvent,
} from '../../src/domain/access/publisher-user.ts'
import { refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { PUBLISHER_USERS } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Invites a person to a publisher's portal, whether or not the address has an account. The token arrives as its hash only. A
 * new invitation of an address replaces the one that is open.
 */
export const invitePublisherUser = defineCommand({
  name: 'invite-publisher-user',
  entity: workspace,
  input: publisherInvitation.pick({ email: true, name: true, tokenHash: true }).extend({ publisherId: id }),
  rejects: ['forbidden', 'publisher-not-found', 'conflict'],
  decide({ publisherId, ...input }, state, { actor, workspaceId, now, newId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const found = state.publishers.get(publisherId)
    if (!found) return refuseNotFound('publisher')
    const publisher = { id: publisherId, name: found.name }
    const { email } = input
    const userId = userIdOf(email)
    if (state.publisherUsers.has(publisherUserId(publisherId, userId))) {
      return refuse('conflict', { email }, 'This person is already a user of the publisher.')
    }
    const open = openPublisherInvitations(state, publisherId, now)
    const replaced = open.filter((one) => userIdOf(one.email) === userId)
    const users = state.publisherUsers.count((one) => one.publisherId === publisherId)
    const current = users + open.length - replaced.length
    if (current >= PUBLISHER_USERS.max) {
      const details = { limit: PUBLISHER_USERS.max, current }
      return refuse('conflict', details, `A publisher has at most ${PUBLISHER_USERS.max} users and open invitations.`)
    }
    const invited = { ...input, id: newId(), expiresAt: invitationEnd(now) }
    return [
      ...replaced.map((one) => revokePublisherInvitationEvent(workspaceId, publisher, one)),
      { type: 'PublisherUserInvited', data: { workspaceId, publisher, invitation: invited } },
    ]
  },
})
