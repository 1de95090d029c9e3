import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { leaseEnd, leaseEvents, leasePage } from './lease.ts'

const { number, campaignId, visitorId, overflow } = leaseEvents.LeaseTaken.shape

/** Document of a lease, as lists show it. */
export const leaseRecord = z.object({
  workspaceId: id,
  poolId: id,
  campaignId,
  visitorId,
  number,
  overflow,
  /** Keys of parameters are as tags are stored (`calls/tags.ts`). */
  ...leasePage.shape,
  status: z.enum(['live', 'ended']),
  takenAt: instant,
  endedAt: instant.nullable(),
  endReason: leaseEnd.nullable(),
})
export type LeaseRecord = z.infer<typeof leaseRecord>
