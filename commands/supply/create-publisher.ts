import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { prefixFor } from '../../src/domain/shared/names.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { refuseNotFound, refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import {
  defaultPublisher,
  publisherCount,
  publisherSettings,
  refusePrefixTaken,
  takenPrefixes,
} from '../../src/domain/supply/publisher.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds a publisher, onboarding and without lanes. Without a prefix in the request, one is derived from the name. */
export const createPublisher = defineCommand({
  name: 'create-publisher',
  entity: workspace,
  input: publisherSettings.partial().required({ name: true }),
  rejects: ['validation-error', 'workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(input, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const taken = takenPrefixes(state)
    const routingPrefix = input.routingPrefix?.toUpperCase() ?? prefixFor(input.name, taken)
    const settings = applyPatch(defaultPublisher(input.name, routingPrefix, workspace.timezone), {
      ...input,
      routingPrefix,
    })
    const unknownZone = refuseUnknownZone(settings.timezone)
    if (unknownZone) return unknownZone
    if (taken.has(routingPrefix)) return refusePrefixTaken(routingPrefix)
    const over = planLimitExceeded(workspace.planId, 'maxPublishers', publisherCount(state))
    if (over) return over
    const initial = { status: 'onboarding', statusNote: null, joinedAt: null } as const
    const publisher = { ...settings, ...initial, id: newId(), createdAt: now, updatedAt: now }
    return [{ type: 'PublisherCreated', data: { publisher } }]
  },
})
