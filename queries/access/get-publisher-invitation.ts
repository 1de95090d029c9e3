import { z } from 'zod'
import { publisherUsers } from '../../projections/access/publisher-users.ts'
import { publisherUserId } from '../../src/domain/access/publisher-user.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { publisherInvitationShape, publisherInvitationShapeOf } from './publisher-user-shape.ts'

/** An open invitation to a publisher's portal. */
export const getPublisherInvitation = defineQuery({
  name: 'get-publisher-invitation',
  summary: "Read an invitation to a publisher's portal",
  mounts: [],
  params: z.object({ publisherId: id, id }),
  query: z.object({}),
  response: z.object({ invitation: publisherInvitationShape }),
  reads: [publisherUsers],
  rejects: ['invitation-not-found'],
  async run({ views }: QueryPorts, { params, tenant: { workspaceId } }) {
    const found = await readOne(views, publisherUsers, workspaceId, publisherUserId(params.publisherId, params.id))
    return found?.status === 'invited'
      ? { invitation: publisherInvitationShapeOf(found) }
      : refuse('invitation-not-found')
  },
})
