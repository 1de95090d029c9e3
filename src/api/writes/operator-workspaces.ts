import { z } from 'zod'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { openWorkspace } from '../../../commands/access/open-workspace.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { getUser } from '../../../queries/access/get-user.ts'
import { getWorkspace } from '../../../queries/access/get-workspace.ts'
import { userShape } from '../../../queries/access/user-shape.ts'
import { workspaceShape } from '../../../queries/access/workspace-shape.ts'
import { newWorkspace, workspaceRecord } from '../../domain/access/tenant.ts'
import { newPerson, userIdOf } from '../../domain/access/user.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import { registerPerson } from './users.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const path = '/api/operator/workspaces'

/** Options of an operator's route on one workspace. */
export const operatorWorkspaceRoute = { params: z.object({ id }), tenantFrom: workspaces }

const create = defineWriteRoute({
  name: 'create-workspace',
  summary: 'Make a workspace with its owner',
  method: 'POST',
  mounts: [{ surface: 'operator', path }],
  body: newWorkspace.extend({ owner: newPerson }),
  responses: { 201: z.object({ workspace: workspaceShape, owner: userShape }) },
  rejects: [...new Set([...openWorkspace.rejects, ...createWorkspace.rejects])],
  async run(context) {
    const { body, execute, query, setTenant } = context
    const { owner, ...settings } = body
    const { name, timezone } = settings
    const opened = await execute(openWorkspace, { name, timezone })
    if (isRefusal(opened)) return opened
    setTenant({ workspaceId: opened.first('WorkspaceOpened')?.workspaceId ?? '', timezone })
    const person = await registerPerson(context, owner)
    const created = await execute(createWorkspace, { ...settings, owner: person })
    if (isRefusal(created)) return created
    const workspace = await query(getWorkspace, {})
    if (isRefusal(workspace)) return workspace
    const answer = await query(getUser, { id: userIdOf(owner.email) })
    return isRefusal(answer) ? answer : { status: 201, body: { ...workspace, owner: answer.user } }
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
