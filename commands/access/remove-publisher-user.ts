import { z } from 'zod'
import { publisherUserId } from '../../src/domain/access/publisher-user.ts'
import { refuseUnlessOwner } from '../../src/domain/access/seat.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Takes the portal of a publisher from a person: their sessions reach it no more. */
export const removePublisherUser = defineCommand({
  name: 'remove-publisher-user',
  entity: workspace,
  input: z.object({ publisherId: id, userId: id }),
  rejects: ['forbidden', 'user-not-found'],
  decide({ publisherId, userId }, state, { actor, workspaceId }) {
    const refused = refuseUnlessOwner(state, actor)
    if (refused) return refused
    const found = state.publisherUsers.get(publisherUserId(publisherId, userId))
    if (!found) return refuseNotFound('user')
    const { email, name } = found
    const publisher = { id: publisherId, name: state.publishers.get(publisherId)?.name ?? '' }
    return [{ type: 'PublisherUserRemoved', data: { workspaceId, publisher, userId, email, name } }]
  },
})
