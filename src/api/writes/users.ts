import { z } from 'zod'
import { changeSeatRole } from '../../../commands/access/change-seat-role.ts'
import { grantSeat } from '../../../commands/access/grant-seat.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
import { removeSeat } from '../../../commands/access/remove-seat.ts'
import { getUser } from '../../../queries/access/get-user.ts'
import { userShape } from '../../../queries/access/user-shape.ts'
import { role, seatId } from '../../domain/access/seat.ts'
import { newPerson, user, userIdOf } from '../../domain/access/user.ts'
import { refuseEmptyChange } from '../../domain/shared/refusals.ts'
import { id } from '../../kernel/wire.ts'
import { hashPassword } from '../passwords.ts'
import { defineWrite } from './define-write.ts'
import type { WriteContext } from './write-context.ts'
import type { Write } from './write-route.ts'

const path = '/api/tracking/users'
const byId = {
  params: z.object({ id }),
  record: ({ id }: { readonly id: string }, workspaceId: string) => seatId(workspaceId, id),
  pathRecords: { id: 'seats' },
  mounts: [{ surface: 'console', path: `${path}/:id`, ownerOnly: true }],
} as const

/** Registers a person; one whose address is registered already keeps their name and password. */
export async function registerPerson(
  { execute, tools }: Pick<WriteContext, 'execute' | 'tools'>,
  { email, name, password }: z.infer<typeof newPerson>,
): Promise<{ readonly email: string; readonly name: string }> {
  await execute(registerUser, { email, name, passwordHash: await hashPassword(password) })
  const known = await tools.writer.stateOf(user, userIdOf(email))
  return { email: known.user?.email ?? email, name: known.user?.name ?? name }
}

const add = defineWrite({
  name: 'add-user',
  summary: 'Give a person a seat in the workspace',
  method: 'POST',
  mounts: [{ surface: 'console', path, ownerOnly: true }],
  body: newPerson.extend({ role }),
  responses: { 201: z.object({ user: userShape }) },
  command: grantSeat,
  input: async ({ body: { role, ...person }, context }) => ({ ...(await registerPerson(context, person)), role }),
  answer: { query: getUser, params: ({ body }) => ({ id: userIdOf(body.email) }) },
  respond: ({ answer: { user } }) => ({ user }),
})

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
export const userWrites: readonly Write[] = [add, change, remove]
