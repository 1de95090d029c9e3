import { acceptance, isOpen } from '../../src/domain/access/invitation.ts'
import { userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Gives a person, who has proved to own the invited account, the seat of an open invitation. */
export const acceptInvitation = defineCommand({
  name: 'accept-invitation',
  entity: workspace,
  input: acceptance,
  rejects: ['workspace-not-found', 'invitation-not-found'],
  decide({ invitationId, tokenHash, person }, { workspace, seats, invitations }, { workspaceId, now }) {
    if (!workspace) return refuseNotFound('workspace')
    const userId = userIdOf(person.email)
    const invitation = invitations.get(invitationId)
    const isTheirs = invitation?.tokenHash === tokenHash && userIdOf(invitation.email) === userId
    if (!invitation || !isTheirs || !isOpen(invitation, now)) return refuseNotFound('invitation')
    const { role } = invitation
    const accepted = { workspaceId, invitationId, userId, ...person, role }
    const seat = { workspaceId, workspaceName: workspace.name, userId, ...person, role }
    return [
      { type: 'InvitationAccepted', data: accepted },
      ...(seats.has(userId) ? [] : [{ type: 'SeatGranted' as const, data: seat }]),
    ]
  },
})
