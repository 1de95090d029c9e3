import { z } from 'zod'
import { nameOf, timezone } from '../src/domain/fields.ts'
import { NAME } from '../src/domain/limits.ts'
import { planId, workspace } from '../src/domain/workspace.ts'
import { zoneProblem } from '../src/domain/zones.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'

/** Begins a workspace; one that is there already stays as it is. */
export const createWorkspace = defineCommand({
  name: 'create-workspace',
  entity: workspace,
  input: z.object({ name: nameOf(NAME.workspace), timezone, planId, sandbox: z.boolean().default(false) }),
  rejects: ['bad-request'],
  decide(sent, { workspace }, { now, workspaceId }) {
    if (workspace) return []
    const problem = zoneProblem(sent.timezone)
    if (problem) return refuse('bad-request', { timezone: problem })
    const created = { ...sent, id: workspaceId, subscriptionStatus: 'active', createdAt: now } as const
    return [{ type: 'WorkspaceCreated', data: { workspace: created } }]
  },
})
