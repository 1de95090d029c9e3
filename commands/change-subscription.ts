import { z } from 'zod'
import { missing } from '../src/domain/refusals.ts'
import { subscriptionStatus, workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'

/** Sets how a workspace's subscription stands; anything but `active` turns callers away. */
export const changeSubscription = defineCommand({
  name: 'change-subscription',
  entity: workspace,
  input: z.object({ subscriptionStatus }),
  rejects: ['workspace-not-found'],
  decide({ subscriptionStatus: to }, { workspace }) {
    if (!workspace) return missing('workspace')
    const from = workspace.subscriptionStatus
    return from === to ? [] : [{ type: 'SubscriptionChanged', data: { from, to } }]
  },
})
