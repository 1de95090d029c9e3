import { z } from 'zod'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { invitePerson } from '../../../commands/access/invite-person.ts'
import { openWorkspace } from '../../../commands/access/open-workspace.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { getUser } from '../../../queries/access/get-user.ts'
import { getWorkspace } from '../../../queries/access/get-workspace.ts'
import { invitationShape, userShape } from '../../../queries/access/user-shape.ts'
import { workspaceShape } from '../../../queries/access/workspace-shape.ts'
import { newWorkspace, workspaceRecord } from '../../domain/access/tenant.ts'
import { email, newPerson, user, userIdOf } from '../../domain/access/user.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { hashPassword } from '../passwords.ts'
import { defineWrite } from './define-write.ts'
import { invite } from './invitations.ts'
import type { SignedInPerson } from './sessions.ts'
import type { WriteContext } from './write-context.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const path = '/api/operator/workspaces'

/** Options of an operator's route on one workspace. */
export const operatorWorkspaceRoute = { params: z.object({ id }), tenantFrom: workspaces }

/** The owner of a new workspace: a new person with a password, or one who has an account and is invited. */
const newOwner = z.union([newPerson, z.object({ email, existing: z.literal(true) })])

type NewWorkspace = z.infer<typeof newWorkspace>

/** Creates the workspace with a new person as its owner. */
async function createWithOwner(context: WriteContext, settings: NewWorkspace, owner: z.infer<typeof newPerson>) {
  const { email, name, password } = owner
  const registered = await context.execute(registerUser, { email, name, passwordHash: await hashPassword(password) })
  if (isRefusal(registered)) return registered
  const created = await context.execute(createWorkspace, { ...settings, owner: { email, name } })
  if (isRefusal(created)) return created
  const answer = await context.query(getUser, { id: userIdOf(email) })
  return isRefusal(answer) ? answer : { owner: answer.user }
}

/** Creates the workspace without an owner, and invites a person who has an account. */
async function createAndInvite(context: WriteContext, settings: NewWorkspace, { email, name }: SignedInPerson) {
  const created = await context.execute(createWorkspace, settings)
  if (isRefusal(created)) return created
  const invited = await invite(context, { email, name, role: 'owner' })
  return isRefusal(invited) ? invited : { owner: null, ...invited }
}

const create = defineWriteRoute({
  name: 'create-workspace',
  summary: 'Make a workspace with its owner',
  method: 'POST',
  mounts: [{ surface: 'operator', path }],
  body: newWorkspace.extend({ owner: newOwner }),
  responses: {
    201: z.object({
      workspace: workspaceShape,
      owner: userShape.nullable(),
      invitation: invitationShape.optional(),
      token: z.string().optional(),
    }),
  },
  rejects: [
    ...new Set([
      ...openWorkspace.rejects,
      ...createWorkspace.rejects,
      ...registerUser.rejects,
      ...invitePerson.rejects,
    ]),
  ],
  async run(context) {
    const { body, execute, query, setTenant, tools } = context
    const { owner, ...settings } = body
    const { name, timezone } = settings
    const account = (await tools.writer.stateOf(user, userIdOf(owner.email))).user
    const isNew = 'password' in owner
    if (isNew && account) {
      const sentence = 'This e-mail address has an account. Send owner as {email, existing: true} to invite its person.'
      return refuse('conflict', { 'owner.email': owner.email }, sentence)
    }
    if (!isNew && !account) {
      return refuse('conflict', { 'owner.email': owner.email }, 'This e-mail address has no account to invite.')
    }
    const opened = await execute(openWorkspace, { name, timezone })
    if (isRefusal(opened)) return opened
    setTenant({ workspaceId: opened.first('WorkspaceOpened')?.workspaceId ?? '', timezone })
    const owned = isNew
      ? await createWithOwner(context, settings, owner)
      : await createAndInvite(context, settings, account ?? { id: '', name: '', passwordHash: '', ...owner })
    if (isRefusal(owned)) return owned
    const workspace = await query(getWorkspace, {})
    return isRefusal(workspace) ? workspace : { status: 201, body: { ...workspace, ...owned } }
  },
})

const change = defineWrite({
  ...operatorWorkspaceRoute,
  name: 'administer-workspace',
  summary: 'Change a workspace, its plan or its subscription status',
  method: 'PATCH',
  mounts: [{ surface: 'operator', path: `${path}/:id` }],
  body: workspaceRecord.pick({ name: true, timezone: true, planId: true, subscriptionStatus: true }).partial(),
  responses: { 200: z.object({ workspace: workspaceShape }) },
  record: ({ id }) => id,
  command: changeWorkspace,
  input: ({ body }) => body,
  answer: { query: getWorkspace, params: () => ({}) },
})

/** The operator's writes of workspaces (Supplement §2, "Operator"). */
export const operatorWorkspaceWrites: readonly Write[] = [create, change]
