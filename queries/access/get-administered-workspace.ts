import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { administeredWorkspace } from './list-workspaces.ts'
import { workspaceShapeOf } from './workspace-shape.ts'

/** One workspace of the platform, for its staff. */
export const getAdministeredWorkspace = defineQuery({
  name: 'get-administered-workspace',
  summary: 'Read a workspace',
  mounts: [{ surface: 'operator', path: '/api/operator/workspaces/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ workspace: administeredWorkspace }),
  reads: [workspaces, wallets],
  rejects: ['workspace-not-found'],
  async run({ views }: QueryPorts, { params: { id } }) {
    const [found, money] = await Promise.all([readOne(views, workspaces, id, id), readOne(views, wallets, id, id)])
    if (!found) return refuse('workspace-not-found')
    return { workspace: { ...workspaceShapeOf(found), balanceCents: money?.balanceCents ?? 0 } }
  },
})
