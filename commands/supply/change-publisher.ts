import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound, refuseUnknownZone } from '../../src/domain/shared/refusals.ts'
import {
  type PublisherSettings,
  publisherChanges,
  refusePrefixTaken,
  takenPrefixes,
} from '../../src/domain/supply/publisher.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a publisher. Keys issued under an earlier prefix still work. */
export const changePublisher = defineCommand({
  name: 'change-publisher',
  entity: workspace,
  input: z.object({ publisherId: id, changes: publisherChanges }),
  rejects: ['validation-error', 'bad-request', 'publisher-not-found', 'conflict'],
  decide({ publisherId, changes }, state) {
    const publisher = state.publishers.get(publisherId)
    if (!publisher) return refuseNotFound('publisher')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const unknownZone = refuseUnknownZone(changes.timezone)
    if (unknownZone) return unknownZone
    const { name, status } = publisher
    if (status === 'terminated') return refuse('conflict', { status }, 'The publisher is terminated, which is final.')
    const patch = { ...changes, routingPrefix: changes.routingPrefix?.toUpperCase() }
    const difference = diff<PublisherSettings>(publisher, patch)
    if (!difference) return []
    const { routingPrefix } = difference.after
    if (routingPrefix !== undefined && takenPrefixes(state).has(routingPrefix)) return refusePrefixTaken(routingPrefix)
    return [{ type: 'PublisherChanged', data: { publisherId, name, ...difference } }]
  },
})
