import { overCeiling } from '../src/domain/ceilings.ts'
import { changed } from '../src/domain/changes.ts'
import { prefixFor } from '../src/domain/names.ts'
import {
  plainPublisher,
  prefixesTaken,
  prefixTaken,
  publisherSettings,
  publishersHeld,
} from '../src/domain/publisher.ts'
import { missing } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { zoneProblem } from '../src/domain/zones.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'

/** Adds a publisher, onboarding and without lanes. A prefix that is not sent is made from the name. */
export const createPublisher = defineCommand({
  name: 'create-publisher',
  entity: workspace,
  input: publisherSettings.partial().required({ name: true }),
  rejects: ['validation-error', 'workspace-not-found', 'conflict', 'plan-upgrade-required'],
  decide(sent, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return missing('workspace')
    const taken = prefixesTaken(state)
    const wanted = sent.routingPrefix?.toUpperCase()
    const routingPrefix = wanted ?? prefixFor(sent.name, taken)
    const settings = changed(plainPublisher(sent.name, routingPrefix, workspace.timezone), { ...sent, routingPrefix })
    const problem = zoneProblem(settings.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    if (taken.has(routingPrefix)) return prefixTaken(routingPrefix)
    const over = overCeiling(workspace.planId, 'maxPublishers', publishersHeld(state))
    if (over) return over
    const standing = { status: 'onboarding', statusNote: null, joinedAt: null } as const
    const publisher = { ...settings, ...standing, id: newId(), createdAt: now, updatedAt: now }
    return [{ type: 'PublisherCreated', data: { publisher } }]
  },
})
