import { z } from 'zod'
import { publisherUserEvents, publisherUserId } from '../../src/domain/access/publisher-user.ts'
import { NEVER } from '../../src/domain/shared/time.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** The people of each publisher's portal: users, and those invited by the id of their invitation, each by `publisherUserId`. */
export const publisherUsers = defineProjection({
  name: 'publisher-users',
  version: 1,
  events: publisherUserEvents,
  doc: z.object({
    workspaceId: id,
    publisherId: id,
    /** The user's id; that of the invitation where the person is only invited. */
    userId: id,
    status: z.enum(['member', 'invited']),
    email: z.string(),
    name: z.string(),
    /** SHA-256 of the invitation's token; null for a user. */
    tokenHash: z.string().nullable(),
    openUntil: instant,
    createdAt: instant,
  }),
  indexes: [{ workspaceId: 1, publisherId: 1, status: -1, createdAt: -1 }, { tokenHash: 1 }],
  expiresAt: ({ status, openUntil }) => (status === 'invited' ? Date.parse(openUntil) : null),
  key({ type, data }) {
    if (type === 'PublisherUserInvited') return publisherUserId(data.publisher.id, data.invitation.id)
    if (type === 'PublisherUserAdded' || type === 'PublisherUserRemoved')
      return publisherUserId(data.publisher.id, data.userId)
    return publisherUserId(data.publisher.id, data.invitationId)
  },
  create: {
    PublisherUserAdded: ({ data: { workspaceId, publisher, userId, email, name }, meta: { at } }) => ({
      workspaceId,
      publisherId: publisher.id,
      userId,
      status: 'member' as const,
      email,
      name,
      tokenHash: null,
      openUntil: NEVER,
      createdAt: at,
    }),
    PublisherUserInvited: ({ data: { workspaceId, publisher, invitation }, meta: { at } }) => ({
      workspaceId,
      publisherId: publisher.id,
      userId: invitation.id,
      status: 'invited' as const,
      email: invitation.email,
      name: invitation.name,
      tokenHash: invitation.tokenHash,
      openUntil: invitation.expiresAt,
      createdAt: at,
    }),
  },
  update: {
    PublisherUserRemoved: () => null,
    PublisherInvitationRevoked: () => null,
    PublisherInvitationAccepted: () => null,
  },
})
