import { z } from 'zod'
import { seats } from '../../projections/access/seats.ts'
import { seatId } from '../../src/domain/access/seat.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { invitationShape, invitationShapeOf } from './user-shape.ts'

/** An open invitation of the workspace. */
export const getInvitation = defineQuery({
  name: 'get-invitation',
  summary: 'Read an invitation',
  mounts: [],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ invitation: invitationShape }),
  reads: [seats],
  rejects: ['invitation-not-found'],
  async run({ views }: QueryPorts, { params, tenant: { workspaceId } }) {
    const found = await readOne(views, seats, workspaceId, seatId(workspaceId, params.id))
    return found?.status === 'invited' ? { invitation: invitationShapeOf(found) } : refuse('invitation-not-found')
  },
})
