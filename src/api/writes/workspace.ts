import { z } from 'zod'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { getWorkspace } from '../../../queries/access/get-workspace.ts'
import { workspaceShape } from '../../../queries/access/workspace-shape.ts'
import { workspaceChanges } from '../../domain/access/tenant.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineWrite, type Write } from './define-write.ts'

const change = defineWrite({
  name: 'change-workspace',
  summary: 'Change the workspace',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: '/api/tracking/workspace' }],
  body: workspaceChanges,
  responses: { 200: z.object({ workspace: workspaceShape }) },
  rejects: changeWorkspace.rejects,
  record: (_params, workspaceId) => workspaceId,
  async run({ body, act, ask }) {
    const done = await act(changeWorkspace, body)
    if (isRefusal(done)) return done
    const answer = await ask(getWorkspace, {})
    return isRefusal(answer) ? answer : { status: 200, body: { workspace: answer.workspace } }
  },
})

/** Writes of the workspace itself (Supplement §10). */
export const workspaceWrites: readonly Write[] = [change]
