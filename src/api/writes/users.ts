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
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { hashPassword } from '../passwords.ts'
import { defineWrite, type Write } from './define-write.ts'
import type { WriteContext } from './write-context.ts'

const path = '/api/tracking/users'
const one = {
  params: z.object({ id }),
  record: ({ id }: { readonly id: string }, workspaceId: string) => seatId(workspaceId, id),
  pathRecords: { id: 'seats' },
  mounts: [{ surface: 'console', path: `${path}/:id`, ownerOnly: true }],
} as const

/** The person of an address: registered now, or as they registered before, with their own name and password. */
export async function registerPerson(
  { act, tools }: Pick<WriteContext<unknown, unknown>, 'act' | 'tools'>,
  { email, name, password }: z.infer<typeof newPerson>,
): Promise<{ readonly email: string; readonly name: string }> {
  await act(registerUser, { email, name, passwordHash: await hashPassword(password) })
  const known = await tools.writer.stateOf(user, userIdOf(email))
  return { email: known.user?.email ?? email, name: known.user?.name ?? name }
}

async function userResponse({ ask }: Pick<WriteContext<unknown, unknown>, 'ask'>, userId: string, status: number) {
  const answer = await ask(getUser, { id: userId })
  return isRefusal(answer) ? answer : { status, body: { user: answer.user } }
}

const add = defineWrite({
  name: 'add-user',
  summary: 'Give a person a seat in the workspace',
  method: 'POST',
  mounts: [{ surface: 'console', path, ownerOnly: true }],
  body: newPerson.extend({ role }),
  responses: { 201: z.object({ user: userShape }) },
  rejects: grantSeat.rejects,
  async run(writing) {
    const { role, ...sent } = writing.body
    const person = await registerPerson(writing, sent)
    const done = await writing.act(grantSeat, { ...person, role })
    return isRefusal(done) ? done : userResponse(writing, userIdOf(sent.email), 201)
  },
})

const change = defineWrite({
  ...one,
  name: 'change-user',
  summary: "Change a person's role in the workspace",
  method: 'PATCH',
  body: z.object({ role: role.optional() }),
  responses: { 200: z.object({ user: userShape }) },
  rejects: [...changeSeatRole.rejects, 'bad-request'],
  async run(writing) {
    const { params, body } = writing
    if (body.role === undefined) return refuseEmptyChange()
    const done = await writing.act(changeSeatRole, { userId: params.id, role: body.role })
    return isRefusal(done) ? done : userResponse(writing, params.id, 200)
  },
})

const remove = defineWrite({
  ...one,
  name: 'remove-user',
  summary: "Take a person's seat in the workspace away",
  method: 'DELETE',
  responses: { 200: z.object({ deleted: id }) },
  rejects: removeSeat.rejects,
  async run({ params: { id }, act }) {
    const done = await act(removeSeat, { userId: id })
    return isRefusal(done) ? done : { status: 200, body: { deleted: id } }
  },
})

/** Writes of a workspace's people: its owners' alone (Supplement §2). */
export const userWrites: readonly Write[] = [add, change, remove]
