import { z } from 'zod'
import type { seats } from '../../projections/access/seats.ts'
import { role } from '../../src/domain/access/seat.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { DocOf } from '../shared/documents.ts'

/** A user of a workspace, with their role. */
export const userShape = z.object({
  id,
  email: z.string(),
  name: z.string(),
  role,
  createdAt: instant,
  updatedAt: instant,
})

/** The user of a seat. */
export function userShapeOf({ userId, email, name, role, createdAt, updatedAt }: DocOf<typeof seats>) {
  return { id: userId, email, name, role, createdAt, updatedAt }
}
