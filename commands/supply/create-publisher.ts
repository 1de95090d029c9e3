import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { prefixFor } from '../../src/domain/shared/names.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import {
  defaultPublisher,
  publisherCount,
  publisherSettings,
  refusePrefixTaken,
  takenPrefixes,
} from '../../src/domain/supply/publisher.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Adds a publisher, onboarding and without lanes. A prefix that is not sent is made from the name. */
export const createPublisher = defineCommand({
  name: 'create-publisher',
  entity: workspace,
  input: publisherSettings.partial().required({ name: true }),
  rejects: ['validation-error', 'workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(sent, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const taken = takenPrefixes(state)
    const wanted = sent.routingPrefix?.toUpperCase()
    const routingPrefix = wanted ?? prefixFor(sent.name, taken)
    const settings = applyPatch(defaultPublisher(sent.name, routingPrefix, workspace.timezone), {
      ...sent,
      routingPrefix,
    })
    const problem = zoneProblem(settings.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    if (taken.has(routingPrefix)) return refusePrefixTaken(routingPrefix)
    const over = planLimitExceeded(workspace.planId, 'maxPublishers', publisherCount(state))
    if (over) return over
    const standing = { status: 'onboarding', statusNote: null, joinedAt: null } as const
    const publisher = { ...settings, ...standing, id: newId(), createdAt: now, updatedAt: now }
    return [{ type: 'PublisherCreated', data: { publisher } }]
  },
})
