import { z } from 'zod'
import { role, seatEvents } from '../../src/domain/access/seat.ts'
import { email, userEvents } from '../../src/domain/access/user.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { UserRegistered, PasswordChanged } = userEvents

/** Users by id, with their seats in the order granted: a look-up across workspaces. */
export const users = defineProjection({
  name: 'users',
  version: 2,
  events: { UserRegistered, PasswordChanged, ...seatEvents },
  doc: z.object({
    email,
    name: z.string(),
    passwordHash: z.string(),
    seats: z.array(z.object({ workspaceId: id, role })).readonly(),
  }),
  indexes: [],
  key: ({ data }) => data.userId,
  create: {
    UserRegistered: ({ data: { email, name, passwordHash } }) => ({ email, name, passwordHash, seats: [] }),
  },
  update: {
    PasswordChanged: (doc, { data: { passwordHash } }) => ({ ...doc, passwordHash }),
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
