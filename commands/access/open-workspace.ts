import { PLATFORM_ID, platform } from '../../src/domain/access/platform.ts'
import { newWorkspace } from '../../src/domain/access/tenant.ts'
import { refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Reserves the id of a new workspace, so that a repeated attempt continues an interrupted one. */
export const openWorkspace = defineCommand({
  name: 'open-workspace',
  entity: platform,
  input: newWorkspace.pick({ name: true, timezone: true }),
  id: () => PLATFORM_ID,
  rejects: ['validation-error'],
  decide({ name, timezone }, _state, { newId }) {
    const unknownZone = refuseUnknownZone(timezone)
    if (unknownZone) return unknownZone
    return [{ type: 'WorkspaceOpened', data: { workspaceId: newId(), name } }]
  },
})
