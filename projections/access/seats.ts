import { z } from 'zod'
import { role, seatEvents, seatId } from '../../src/domain/access/seat.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** The users of each workspace, by `seatId`. */
export const seats = defineProjection({
  name: 'seats',
  version: 1,
  events: seatEvents,
  doc: z.object({
    workspaceId: id,
    userId: id,
    email: z.string(),
    name: z.string(),
    role,
    createdAt: instant,
    updatedAt: instant,
  }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, name: 1 },
    { workspaceId: 1, email: 1 },
  ],
  key: ({ data: { workspaceId, userId } }) => seatId(workspaceId, userId),
  create: {
    SeatGranted: ({ data: { workspaceId, userId, email, name, role }, meta: { at } }) => ({
      workspaceId,
      userId,
      email,
      name,
      role,
      createdAt: at,
      updatedAt: at,
    }),
  },
  update: {
    SeatGranted: (doc, { data: { email, name, role }, meta }) => ({ ...doc, email, name, role, updatedAt: meta.at }),
    SeatRoleChanged: (doc, { data: { to }, meta }) => ({ ...doc, role: to, updatedAt: meta.at }),
    SeatRemoved: () => null,
  },
})
