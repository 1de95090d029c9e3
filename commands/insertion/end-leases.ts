import { z } from 'zod'
import { leaseEnd, leaseEndedEvents, poolLeases, sessionId } from '../../src/domain/insertion/lease.ts'
import { LEASE } from '../../src/domain/shared/limits.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** Records the ends of leases of a pool; those that have ended stay as they are. */
export const endLeases = defineCommand({
  name: 'end-leases',
  entity: poolLeases,
  input: z.object({
    poolId: id,
    ended: z
      .array(z.object({ sessionId, occurredAt: instant, reason: leaseEnd }))
      .min(1)
      .max(LEASE.endBatch),
  }),
  id: ({ poolId }) => poolId,
  decide: ({ poolId, ended }, state) => ended.flatMap((one) => leaseEndedEvents(state, poolId, one)),
})
