import { z } from 'zod'
import { subscriptionChangedEvents, subscriptionStatus } from '../../src/domain/access/tenant.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Sets how a workspace's subscription stands; anything but `active` turns callers away. */
export const changeSubscription = defineCommand({
  name: 'change-subscription',
  entity: workspace,
  input: z.object({ subscriptionStatus }),
  rejects: ['workspace-not-found'],
  decide: ({ subscriptionStatus }, { workspace }) =>
    workspace ? subscriptionChangedEvents(workspace, subscriptionStatus) : refuseNotFound('workspace'),
})
