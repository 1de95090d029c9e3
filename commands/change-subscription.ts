import { z } from 'zod'
import { missing } from '../src/domain/refusals.ts'
import { subscriptionMoved, subscriptionStatus } from '../src/domain/tenant.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'

/** Sets how a workspace's subscription stands; anything but `active` turns callers away. */
export const changeSubscription = defineCommand({
  name: 'change-subscription',
  entity: workspace,
  input: z.object({ subscriptionStatus }),
  rejects: ['workspace-not-found'],
  decide: ({ subscriptionStatus }, { workspace }) =>
    workspace ? subscriptionMoved(workspace, subscriptionStatus) : missing('workspace'),
})
