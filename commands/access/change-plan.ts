import { z } from 'zod'
import { planChangedEvents, planId } from '../../src/domain/access/tenant.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Moves a workspace to another plan. Records over the new plan's limits stay; no more can be created. */
export const changePlan = defineCommand({
  name: 'change-plan',
  entity: workspace,
  input: z.object({ planId }),
  rejects: ['workspace-not-found'],
  decide: ({ planId }, { workspace }) =>
    workspace ? planChangedEvents(workspace, planId) : refuseNotFound('workspace'),
})
