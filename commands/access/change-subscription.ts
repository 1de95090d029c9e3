import { z } from 'zod'
import { subscriptionChangedEvents, subscriptionStatus } from '../../src/domain/access/tenant.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Sets a workspace's subscription status. With any status but `active`, calls are not routed. */
export const changeSubscription = defineCommand({
  name: 'change-subscription',
  entity: workspace,
  input: z.object({ subscriptionStatus }),
  rejects: ['workspace-not-found'],
  decide: ({ subscriptionStatus }, { workspace }) =>
    workspace ? subscriptionChangedEvents(workspace, subscriptionStatus) : refuseNotFound('workspace'),
})
