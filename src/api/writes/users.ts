import { z } from 'zod'
import { changeSeatRole } from '../../../commands/access/change-seat-role.ts'
import { removeSeat } from '../../../commands/access/remove-seat.ts'
import { getUser } from '../../../queries/access/get-user.ts'
import { userShape } from '../../../queries/access/user-shape.ts'
import { role, seatId } from '../../domain/access/seat.ts'
import { refuseEmptyChange } from '../../domain/shared/refusals.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'

const path = '/api/tracking/users'
const byId = {
  params: z.object({ id }),
  record: ({ id }: { readonly id: string }, workspaceId: string) => seatId(workspaceId, id),
  pathRecords: { id: 'seats' },
  mounts: [{ surface: 'console', path: `${path}/:id`, ownerOnly: true }],
} as const

const change = defineWrite({
  ...byId,
  name: 'change-user',
  summary: "Change a person's role in the workspace",
  method: 'PATCH',
  body: z.object({ role: role.optional() }),
  responses: { 200: z.object({ user: userShape }) },
  rejects: ['bad-request'],
  command: changeSeatRole,
  input: ({ params, body: { role } }) => (role === undefined ? refuseEmptyChange() : { userId: params.id, role }),
  answer: { query: getUser, params: ({ params }) => params },
  respond: ({ answer: { user } }) => ({ user }),
})

const remove = defineWrite({
  ...byId,
  name: 'remove-user',
  summary: "Remove a person's seat in the workspace",
  method: 'DELETE',
  responses: { 200: z.object({ deleted: id }) },
  command: removeSeat,
  input: ({ params }) => ({ userId: params.id }),
  respond: ({ params }) => ({ deleted: params.id }),
})

/** Writes of a workspace's people, for its owners only (Supplement §2). */
export const userWrites: readonly Write[] = [change, remove]
