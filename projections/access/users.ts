import { z } from 'zod'
import { publisherUserEvents } from '../../src/domain/access/publisher-user.ts'
import { role, seatEvents } from '../../src/domain/access/seat.ts'
import { email, userEvents } from '../../src/domain/access/user.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { UserRegistered, PasswordResetRequested, PasswordChanged } = userEvents
const { PublisherUserAdded, PublisherUserRemoved } = publisherUserEvents

/** Users by id, with their seats and publishers in the order granted: a look-up across workspaces. */
export const users = defineProjection({
  name: 'users',
  // 4: publishers.
  version: 4,
  events: {
    UserRegistered,
    PasswordResetRequested,
    PasswordChanged,
    ...seatEvents,
    PublisherUserAdded,
    PublisherUserRemoved,
  },
  // A user's stream has a partition of its own, and the seats have those of their workspaces.
  partitioned: false,
  doc: z.object({
    email,
    name: z.string(),
    passwordHash: z.string(),
    /** SHA-256 of the token by which the password can be reset; null for none. */
    resetTokenHash: z.string().nullable(),
    seats: z.array(z.object({ workspaceId: id, role })).readonly(),
    /** The publishers whose portal the user may use while it is on; missing where there were never any. */
    publishers: z
      .array(z.object({ workspaceId: id, publisherId: id }))
      .readonly()
      .optional(),
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
    PublisherUserAdded(doc, { data: { workspaceId, publisher } }) {
      const others = (doc.publishers ?? []).filter(({ publisherId }) => publisherId !== publisher.id)
      return { ...doc, publishers: [...others, { workspaceId, publisherId: publisher.id }] }
    },
    PublisherUserRemoved: (doc, { data: { publisher } }) => ({
      ...doc,
      publishers: (doc.publishers ?? []).filter(({ publisherId }) => publisherId !== publisher.id),
    }),
  },
})
