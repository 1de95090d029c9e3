import { invitation, invitationEnd, isOpen, revokeEvent } from '../../src/domain/access/invitation.ts'
import { refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { userIdOf } from '../../src/domain/access/user.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { INVITATION } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/**
 * Invites a person to a seat, whether or not the address has an account. The token arrives as its hash only. A new invitation
 * of an address replaces the one that is open.
 */
export const invitePerson = defineCommand({
  name: 'invite-person',
  entity: workspace,
  input: invitation.pick({ email: true, name: true, role: true, tokenHash: true }),
  rejects: ['workspace-not-found', 'forbidden', 'conflict'],
  decide(input, state, { actor, workspaceId, now, newId }) {
    const { workspace, seats, invitations } = state
    if (!workspace) return refuseNotFound('workspace')
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const { email } = input
    const userId = userIdOf(email)
    if (seats.has(userId)) return refuse('conflict', { email }, 'This person already has a seat in the workspace.')
    const open = [...invitations.values()].filter((one) => isOpen(one, now))
    const replaced = open.filter((one) => userIdOf(one.email) === userId)
    if (open.length - replaced.length >= INVITATION.max) {
      const details = { limit: INVITATION.max, current: open.length }
      return refuse('conflict', details, `A workspace has at most ${INVITATION.max} open invitations.`)
    }
    const invited = { ...input, id: newId(), expiresAt: invitationEnd(now) }
    return [
      ...replaced.map((one) => revokeEvent(workspaceId, one)),
      { type: 'PersonInvited', data: { workspaceId, invitation: invited } },
    ]
  },
})
