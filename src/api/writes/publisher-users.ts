import { z } from 'zod'
import { invitePublisherUser } from '../../../commands/access/invite-publisher-user.ts'
import { removePublisherUser } from '../../../commands/access/remove-publisher-user.ts'
import { revokePublisherInvitation } from '../../../commands/access/revoke-publisher-invitation.ts'
import { getPublisherInvitation } from '../../../queries/access/get-publisher-invitation.ts'
import { publisherInvitationShape } from '../../../queries/access/publisher-user-shape.ts'
import { INVITATION_PREFIX } from '../../domain/access/invitation.ts'
import { publisherUserId } from '../../domain/access/publisher-user.ts'
import { email, userIdOf } from '../../domain/access/user.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { nameSchema } from '../../domain/shared/fields.ts'
import { NAME } from '../../domain/shared/limits.ts'
import type { Tenant } from '../../kernel/query.ts'
import { id } from '../../kernel/wire.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret } from '../secret-issuer.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const path = '/api/tracking/publishers/:id/users'

const invite = defineWrite({
  name: 'invite-publisher-user',
  summary: "Invite a person to a publisher's portal",
  method: 'POST',
  mounts: [{ surface: 'console', path, ownerOnly: true }],
  params: z.object({ id }),
  pathRecords: { id: 'publishers' },
  body: z.object({ email, name: nameSchema(NAME.user) }),
  responses: { 201: z.object({ invitation: publisherInvitationShape, token: z.string() }) },
  rejects: getPublisherInvitation.rejects,
  command: invitePublisherUser,
  issue: (context) =>
    issueSecret(
      context,
      `publisher invitation ${context.params.id} ${userIdOf(context.body.email)}`,
      INVITATION_PREFIX,
    ),
  input: ({ params, body, secret }) => ({ publisherId: params.id, ...body, tokenHash: secretHash(secret) }),
  answer: {
    query: getPublisherInvitation,
    params: ({ params, outcome }) => ({
      publisherId: params.id,
      id: outcome.first('PublisherUserInvited')?.invitation.id ?? '',
    }),
  },
  reveal: ({ secret }) => ({ token: secret }),
})

interface PersonPath {
  readonly id: string
  readonly userId: string
}

/** Name of the path parameter that names no publisher, or no user of it; null when both exist. */
async function missingUserParam({ writer }: WriteTools, { id, userId }: PersonPath, { workspaceId }: Tenant) {
  const { publishers, publisherUsers } = await writer.stateOf(workspace, workspaceId)
  if (!publishers.has(id)) return 'id'
  return publisherUsers.has(publisherUserId(id, userId)) ? null : 'userId'
}

const remove = defineWrite({
  name: 'remove-publisher-user',
  summary: "Take a publisher's portal from a person",
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:userId`, ownerOnly: true }],
  params: z.object({ id, userId: id }),
  notFoundParam: missingUserParam,
  responses: { 200: z.object({ deleted: id }) },
  command: removePublisherUser,
  input: ({ params }) => ({ publisherId: params.id, userId: params.userId }),
  respond: ({ params }) => ({ deleted: params.userId }),
})

interface InvitationPath {
  readonly id: string
  readonly invitationId: string
}

/** Name of the path parameter that names no publisher, or no open invitation to it; null when both exist. */
async function missingInvitationParam(
  { writer }: WriteTools,
  { id, invitationId }: InvitationPath,
  { workspaceId }: Tenant,
) {
  const { publishers, publisherInvitations } = await writer.stateOf(workspace, workspaceId)
  if (!publishers.has(id)) return 'id'
  return publisherInvitations.get(invitationId)?.publisherId === id ? null : 'invitationId'
}

const revoke = defineWrite({
  name: 'revoke-publisher-invitation',
  summary: "Revoke an invitation to a publisher's portal",
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/invitations/:invitationId`, ownerOnly: true }],
  params: z.object({ id, invitationId: id }),
  notFoundParam: missingInvitationParam,
  responses: { 200: z.object({ deleted: id }) },
  command: revokePublisherInvitation,
  input: ({ params }) => ({ publisherId: params.id, invitationId: params.invitationId }),
  respond: ({ params }) => ({ deleted: params.invitationId }),
})

/** Writes of the people of publishers' portals, for the workspace's owners only (Supplement §10). */
export const publisherUserWrites: readonly Write[] = [invite, remove, revoke]
