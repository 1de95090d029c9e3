import { z } from 'zod'
import type { seats } from '../../projections/access/seats.ts'
import { role } from '../../src/domain/access/seat.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'

/** A person of a workspace, with their role in it. */
export const userShape = z.object({
  id,
  email: z.string(),
  name: z.string(),
  role,
  createdAt: instant,
  updatedAt: instant,
})

/** A person as their seat tells of them. */
export function userShapeOf({ userId, email, name, role, createdAt, updatedAt }: DocOf<typeof seats>) {
  return { id: userId, email, name, role, createdAt, updatedAt }
}
