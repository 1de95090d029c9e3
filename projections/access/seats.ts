import { z } from 'zod'
import { invitationEvents } from '../../src/domain/access/invitation.ts'
import { role, seatEvents, seatId } from '../../src/domain/access/seat.ts'
import { NEVER } from '../../src/domain/shared/time.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** The people of each workspace: members by `seatId`, and those invited, in the same form of id, by their invitation. */
export const seats = defineProjection({
  name: 'seats',
  version: 2,
  events: { ...seatEvents, ...invitationEvents },
  doc: z.object({
    workspaceId: id,
    /** The user's id; that of the invitation where the person is only invited. */
    userId: id,
    status: z.enum(['member', 'invited']),
    email: z.string(),
    name: z.string(),
    role,
    /** SHA-256 of the invitation's token; null for a member. */
    tokenHash: z.string().nullable(),
    /** `NEVER` for a member, so that one filter finds the members and the open invitations. */
    openUntil: instant,
    createdAt: instant,
    updatedAt: instant,
  }),
  indexes: [
    { workspaceId: 1, status: -1, createdAt: -1 },
    { workspaceId: 1, status: -1, name: 1 },
    { workspaceId: 1, status: -1, email: 1 },
    { tokenHash: 1 },
  ],
  expiresAt: ({ status, openUntil }) => (status === 'invited' ? Date.parse(openUntil) : null),
  key({ type, data }) {
    if (type === 'PersonInvited') return seatId(data.workspaceId, data.invitation.id)
    if (type === 'InvitationAccepted' || type === 'InvitationRevoked')
      return seatId(data.workspaceId, data.invitationId)
    return seatId(data.workspaceId, data.userId)
  },
  create: {
    SeatGranted: ({ data: { workspaceId, userId, email, name, role }, meta: { at } }) => ({
      workspaceId,
      userId,
      status: 'member' as const,
      email,
      name,
      role,
      tokenHash: null,
      openUntil: NEVER,
      createdAt: at,
      updatedAt: at,
    }),
    PersonInvited: ({ data: { workspaceId, invitation }, meta: { at } }) => ({
      workspaceId,
      userId: invitation.id,
      status: 'invited' as const,
      email: invitation.email,
      name: invitation.name,
      role: invitation.role,
      tokenHash: invitation.tokenHash,
      openUntil: invitation.expiresAt,
      createdAt: at,
      updatedAt: at,
    }),
  },
  update: {
    SeatGranted: (doc, { data: { email, name, role }, meta }) => ({ ...doc, email, name, role, updatedAt: meta.at }),
    SeatRoleChanged: (doc, { data: { to }, meta }) => ({ ...doc, role: to, updatedAt: meta.at }),
    SeatRemoved: () => null,
    InvitationRevoked: () => null,
    InvitationAccepted: () => null,
  },
})
