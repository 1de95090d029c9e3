import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { id } from '../../kernel/wire.ts'
import { named } from '../shared/fields.ts'
import type { SliceOf } from '../shared/slice.ts'
import { invitation, isOpen } from './invitation.ts'

/** A person of a publisher, who may use its portal (Supplement §10). They hold no seat in the workspace. */
export const publisherUser = z.object({ userId: id, email: z.string(), name: z.string() })
export type PublisherUser = Readonly<z.infer<typeof publisherUser>>

/** An invitation to a publisher's portal. Its one-time token is stored as its SHA-256 only. */
export const publisherInvitation = invitation.omit({ role: true })
export type PublisherInvitation = Readonly<z.infer<typeof publisherInvitation>>

/** The person whom an invitation names, once it is over. */
const invitee = { workspaceId: id, publisher: named, invitationId: id, email: z.string(), name: z.string() }

/** These names are the storage format. `publisher` has the id, and the name at that time. */
export const publisherUserEvents = {
  PublisherUserInvited: z.object({ workspaceId: id, publisher: named, invitation: publisherInvitation }),
  PublisherInvitationRevoked: z.object(invitee),
  PublisherInvitationAccepted: z.object({ ...invitee, userId: id }),
  PublisherUserAdded: publisherUser.extend({ workspaceId: id, publisher: named }),
  PublisherUserRemoved: publisherUser.extend({ workspaceId: id, publisher: named }),
}

export interface PublisherUsers {
  /** People by `publisherUserId`. */
  readonly publisherUsers: PersistentMap<string, PublisherUser & { readonly publisherId: string }>
  /** Invitations that were neither accepted nor revoked; expired ones are dropped when the next person is invited. */
  readonly publisherInvitations: PersistentMap<string, PublisherInvitation & { readonly publisherId: string }>
}

/** Id of a person, or of an invitation, at a publisher. */
export function publisherUserId(publisherId: string, userId: string): string {
  return `${publisherId}:${userId}`
}

export const evolvePublisherUsers: SliceOf<PublisherUsers, typeof publisherUserEvents> = {
  PublisherUserInvited: (state, { data: { publisher, invitation: made }, meta: { at } }) => ({
    ...state,
    publisherInvitations: state.publisherInvitations
      .filter((open) => isOpen(open, at))
      .set(made.id, { ...made, publisherId: publisher.id }),
  }),
  PublisherInvitationRevoked: (state, { data }) => ({
    ...state,
    publisherInvitations: state.publisherInvitations.delete(data.invitationId),
  }),
  PublisherInvitationAccepted: (state, { data }) => ({
    ...state,
    publisherInvitations: state.publisherInvitations.delete(data.invitationId),
  }),
  PublisherUserAdded: (state, { data: { publisher, userId, email, name } }) => ({
    ...state,
    publisherUsers: state.publisherUsers.set(publisherUserId(publisher.id, userId), {
      userId,
      email,
      name,
      publisherId: publisher.id,
    }),
  }),
  PublisherUserRemoved: (state, { data: { publisher, userId } }) => ({
    ...state,
    publisherUsers: state.publisherUsers.delete(publisherUserId(publisher.id, userId)),
  }),
}

/** The invitations of a publisher that can be accepted at an instant. */
export function openPublisherInvitations({ publisherInvitations }: PublisherUsers, publisherId: string, at: string) {
  return [...publisherInvitations.values()].filter((one) => one.publisherId === publisherId && isOpen(one, at))
}

/** The event that ends an invitation before anyone accepted it. */
export function revokePublisherInvitationEvent(
  workspaceId: string,
  publisher: z.infer<typeof named>,
  { id: invitationId, email, name }: PublisherInvitation,
) {
  return {
    type: 'PublisherInvitationRevoked' as const,
    data: { workspaceId, publisher, invitationId, email, name },
  }
}
