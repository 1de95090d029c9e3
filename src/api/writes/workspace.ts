import { z } from 'zod'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { getWorkspace } from '../../../queries/access/get-workspace.ts'
import { workspaceShape } from '../../../queries/access/workspace-shape.ts'
import { workspaceChanges } from '../../domain/access/tenant.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'

const change = defineWrite({
  name: 'change-workspace',
  summary: 'Change the workspace',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: '/api/tracking/workspace' }],
  body: workspaceChanges,
  responses: { 200: z.object({ workspace: workspaceShape }) },
  record: (_params, workspaceId) => workspaceId,
  command: changeWorkspace,
  input: ({ body }) => body,
  answer: { query: getWorkspace, params: () => ({}) },
  respond: ({ answer }) => ({ workspace: answer.workspace }),
})

/** Writes of the workspace itself (Supplement §10). */
export const workspaceWrites: readonly Write[] = [change]
