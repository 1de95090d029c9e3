import { z } from 'zod'
import type { seats } from '../../projections/access/seats.ts'
import { role } from '../../src/domain/access/seat.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'

/** A person of a workspace, with their role. */
export const userShape = z
  .object({
    id,
    email: z.string(),
    name: z.string(),
    role,
    /** `invited`: the person has not accepted the invitation, whose id this is, and has no access. */
    status: z.enum(['member', 'invited']),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'User' })

/** The person of a seat or an invitation. */
export function userShapeOf({ userId, email, name, role, status, createdAt, updatedAt }: DocOf<typeof seats>) {
  return { id: userId, email, name, role, status, createdAt, updatedAt }
}

/** An open invitation. */
export const invitationShape = z
  .object({ id, email: z.string(), name: z.string(), role, expiresAt: instant })
  .meta({ id: 'Invitation' })

/** The invitation of a person who is invited. */
export function invitationShapeOf({ userId, email, name, role, openUntil }: DocOf<typeof seats>) {
  return { id: userId, email, name, role, expiresAt: openUntil }
}
