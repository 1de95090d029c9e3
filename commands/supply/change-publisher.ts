import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { zoneProblem } from '../../src/domain/shared/zones.ts'
import {
  type PublisherSettings,
  publisherChanges,
  refusePrefixTaken,
  takenPrefixes,
} from '../../src/domain/supply/publisher.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes what is set of a publisher. Keys that were issued under another prefix go on working. */
export const changePublisher = defineCommand({
  name: 'change-publisher',
  entity: workspace,
  input: z.object({ publisherId: id, changes: publisherChanges }),
  rejects: ['validation-error', 'bad-request', 'publisher-not-found', 'conflict'],
  decide({ publisherId, changes }, state) {
    const publisher = state.publishers.get(publisherId)
    if (!publisher) return refuseNotFound('publisher')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const problem = changes.timezone === undefined ? null : zoneProblem(changes.timezone)
    if (problem) return refuse('validation-error', { timezone: problem })
    const { name, status } = publisher
    if (status === 'terminated') return refuse('conflict', { status }, 'The publisher is terminated, which is final.')
    const wanted = { ...changes, routingPrefix: changes.routingPrefix?.toUpperCase() }
    const difference = diff<PublisherSettings>(publisher, wanted)
    if (!difference) return []
    const { routingPrefix } = difference.after
    if (routingPrefix !== undefined && takenPrefixes(state).has(routingPrefix)) return refusePrefixTaken(routingPrefix)
    return [{ type: 'PublisherChanged', data: { publisherId, name, ...difference } }]
  },
})
