import { z } from 'zod'
import { seats } from '../../projections/access/seats.ts'
import { seatId } from '../../src/domain/access/seat.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { userShape, userShapeOf } from './user-shape.ts'

/** A user with a seat in the workspace. */
export const getUser = defineQuery({
  name: 'get-user',
  summary: 'Read a person of the workspace',
  mounts: [{ surface: 'console', path: '/api/tracking/users/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ user: userShape }),
  reads: [seats],
  rejects: ['user-not-found'],
  record: ({ id }, workspaceId) => seatId(workspaceId, id),
  async run({ views }: QueryPorts, { params, tenant: { workspaceId } }) {
    const seat = await readOne(views, seats, workspaceId, seatId(workspaceId, params.id))
    return seat?.status === 'member' ? { user: userShapeOf(seat) } : refuse('user-not-found')
  },
})
