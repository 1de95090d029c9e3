import { PLATFORM_ID, platform } from '../../src/domain/access/platform.ts'
import { newWorkspace } from '../../src/domain/access/tenant.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Gives a workspace that is about to be made its id, so that an attempt that was cut short is taken up by the next. */
export const openWorkspace = defineCommand({
  name: 'open-workspace',
  entity: platform,
  input: newWorkspace.pick({ name: true, timezone: true }),
  id: () => PLATFORM_ID,
  rejects: ['validation-error'],
  decide({ name, timezone }, _state, { newId }) {
    const problem = zoneProblem(timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    return [{ type: 'WorkspaceOpened', data: { workspaceId: newId(), name } }]
  },
})
