import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseTransition } from '../../src/domain/shared/refusals.ts'
import { liveKeys } from '../../src/domain/supply/lane.ts'
import { PUBLISHER_TRANSITIONS, publisherStatusInput } from '../../src/domain/supply/publisher.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes a publisher's status. Terminating is final and revokes every routing key. */
export const setPublisherStatus = defineCommand({
  name: 'set-publisher-status',
  entity: workspace,
  input: publisherStatusInput.extend({ publisherId: id }),
  rejects: ['publisher-not-found', 'conflict'],
  decide({ publisherId, status: to, note }, state) {
    const publisher = state.publishers.get(publisherId)
    if (!publisher) return refuseNotFound('publisher')
    const { name, status: from } = publisher
    if (from === to) return []
    if (!PUBLISHER_TRANSITIONS[from].includes(to))
      return refuseTransition('Publisher', from, PUBLISHER_TRANSITIONS[from])
    const revoked = to === 'terminated' ? liveKeys(state, publisherId) : []
    const keys = revoked.map(({ id: keyId, campaignId }) => ({ keyId, campaignId }))
    return [
      { type: 'PublisherStatusChanged', data: { publisherId, name, from, to, note: note ?? null, revoked: keys } },
    ]
  },
})
