import { z } from 'zod'
import { email, seat, userEvents } from '../src/domain/user.ts'
import { defineProjection } from '../src/kernel/projection.ts'

const { UserRegistered, SeatGranted } = userEvents

/** People who sign in, by id, with their seats in the order granted: a look-up across workspaces. */
export const users = defineProjection({
  name: 'users',
  version: 1,
  events: { UserRegistered, SeatGranted },
  doc: z.object({ email, name: z.string(), passwordHash: z.string(), seats: z.array(seat).readonly() }),
  indexes: [],
  key: ({ data }) => data.userId,
  starts: {
    UserRegistered: ({ data: { email, name, passwordHash } }) => ({ email, name, passwordHash, seats: [] }),
  },
  on: {
    SeatGranted(doc, { data: { workspaceId, workspaceName, role } }) {
      const others = doc.seats.filter((held) => held.workspaceId !== workspaceId)
      return { ...doc, seats: [...others, { workspaceId, workspaceName, role }] }
    },
  },
})
