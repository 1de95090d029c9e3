import { z } from 'zod'
import type { publisherUsers } from '../../projections/access/publisher-users.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'

/** A person of a publisher's portal. */
export const publisherUserShape = z
  .object({
    id,
    email: z.string(),
    name: z.string(),
    /** `invited`: the person has not accepted the invitation, whose id this is, and has no access. */
    status: z.enum(['member', 'invited']),
    createdAt: instant,
  })
  .meta({ id: 'PublisherUser' })

type PublisherUserDoc = DocOf<typeof publisherUsers>

/** The person of a document. */
export function publisherUserShapeOf({ userId, email, name, status, createdAt }: PublisherUserDoc) {
  return { id: userId, email, name, status, createdAt }
}

/** An open invitation to a publisher's portal. */
export const publisherInvitationShape = z
  .object({ id, email: z.string(), name: z.string(), expiresAt: instant })
  .meta({ id: 'PublisherInvitation' })

/** The invitation of a person who is invited. */
export function publisherInvitationShapeOf({ userId, email, name, openUntil }: PublisherUserDoc) {
  return { id: userId, email, name, expiresAt: openUntil }
}
