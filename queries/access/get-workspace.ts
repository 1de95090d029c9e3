import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { workspaceShape, workspaceShapeOf } from './workspace-shape.ts'

/** The workspace of the request. */
export const getWorkspace = defineQuery({
  name: 'get-workspace',
  summary: 'Read the workspace',
  mounts: [{ surface: 'console', path: '/api/tracking/workspace' }],
  params: z.object({}),
  query: z.object({}),
  response: z.object({ workspace: workspaceShape }),
  reads: [workspaces],
  rejects: ['workspace-not-found'],
  record: (_params, workspaceId) => workspaceId,
  async run({ views }: QueryPorts, { tenant: { workspaceId } }) {
    const found = await readOne(views, workspaces, workspaceId, workspaceId)
    return found ? { workspace: workspaceShapeOf(found) } : refuse('workspace-not-found')
  },
})
