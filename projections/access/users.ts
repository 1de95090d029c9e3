import { z } from 'zod'
import { role, seatEvents } from '../../src/domain/access/seat.ts'
import { email, userEvents } from '../../src/domain/access/user.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { UserRegistered, PasswordResetRequested, PasswordChanged } = userEvents

/** Users by id, with their seats in the order granted: a look-up across workspaces. */
export const users = defineProjection({
  name: 'users',
  version: 3,
  events: { UserRegistered, PasswordResetRequested, PasswordChanged, ...seatEvents },
  // A user's stream has a partition of its own, and the seats have those of their workspaces.
  partitioned: false,
  doc: z.object({
    email,
    name: z.string(),
    passwordHash: z.string(),
    /** SHA-256 of the token by which the password can be reset; null for none. */
    resetTokenHash: z.string().nullable(),
    seats: z.array(z.object({ workspaceId: id, role })).readonly(),
  }),
  indexes: [{ resetTokenHash: 1 }],
  key: ({ data }) => data.userId,
  create: {
    UserRegistered: ({ data: { email, name, passwordHash } }) => ({
      email,
      name,
      passwordHash,
      resetTokenHash: null,
      seats: [],
    }),
  },
  update: {
    PasswordResetRequested: (doc, { data: { tokenHash } }) => ({ ...doc, resetTokenHash: tokenHash }),
    PasswordChanged: (doc, { data: { passwordHash } }) => ({ ...doc, passwordHash, resetTokenHash: null }),
    SeatGranted(doc, { data: { workspaceId, role } }) {
      const others = doc.seats.filter((held) => held.workspaceId !== workspaceId)
      return { ...doc, seats: [...others, { workspaceId, role }] }
    },
    SeatRoleChanged: (doc, { data: { workspaceId, to } }) => ({
      ...doc,
      seats: doc.seats.map((held) => (held.workspaceId === workspaceId ? { ...held, role: to } : held)),
    }),
    SeatRemoved: (doc, { data: { workspaceId } }) => ({
      ...doc,
      seats: doc.seats.filter((held) => held.workspaceId !== workspaceId),
    }),
  },
})
