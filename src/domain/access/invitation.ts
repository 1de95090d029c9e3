import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, sha256 } from '../shared/fields.ts'
import { INVITATION, NAME } from '../shared/limits.ts'
import type { SliceOf } from '../shared/slice.ts'
import { DAY_MS } from '../shared/time.ts'
import { role } from './seat.ts'
import { email } from './user.ts'

/** An invitation to a seat. Its one-time token is stored as its SHA-256 only. */
export const invitation = z.object({
  id,
  email,
  name: nameSchema(NAME.user),
  role,
  tokenHash: sha256,
  expiresAt: instant,
})
export type Invitation = Readonly<z.infer<typeof invitation>>

/** The acceptance of an invitation by a person who has proved to own the invited account. */
export const acceptance = z.object({
  invitationId: id,
  tokenHash: sha256,
  /** The account that accepts. */
  person: z.object({ email, name: nameSchema(NAME.user) }),
})

/** The person whom an invitation names, once it is over. */
const invitee = { workspaceId: id, invitationId: id, email: z.string(), name: z.string(), role }

/** These names are the storage format. */
export const invitationEvents = {
  PersonInvited: z.object({ workspaceId: id, invitation }),
  InvitationRevoked: z.object(invitee),
  InvitationAccepted: z.object({ ...invitee, userId: id }),
}

export interface Invitations {
  /** Invitations that were neither accepted nor revoked; expired ones are dropped when the next person is invited. */
  readonly invitations: PersistentMap<string, Invitation>
}

export const evolveInvitations: SliceOf<Invitations, typeof invitationEvents> = {
  PersonInvited: (state, { data: { invitation }, meta: { at } }) => ({
    ...state,
    invitations: state.invitations.filter((open) => isOpen(open, at)).set(invitation.id, invitation),
  }),
  InvitationRevoked: (state, { data }) => ({ ...state, invitations: state.invitations.delete(data.invitationId) }),
  InvitationAccepted: (state, { data }) => ({ ...state, invitations: state.invitations.delete(data.invitationId) }),
}

/** Prefix of an invitation's token; 256 random bits follow. */
export const INVITATION_PREFIX = 'inv_'

/** Whether an invitation can be accepted at an instant. */
export function isOpen({ expiresAt }: Pick<Invitation, 'expiresAt'>, at: string): boolean {
  return expiresAt > at
}

/** End of an invitation that is made now (ISO 8601). */
export function invitationEnd(now: string): string {
  return addMs(now, INVITATION.days * DAY_MS)
}

/** The event that ends an invitation before anyone accepted it. */
export function revokeEvent(workspaceId: string, { id, email, name, role }: Invitation) {
  return { type: 'InvitationRevoked' as const, data: { workspaceId, invitationId: id, email, name, role } }
}
