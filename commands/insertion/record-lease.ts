import { z } from 'zod'
import { leaseEndedEvents, leaseEvents, pageDigest, poolLeases, sessionId } from '../../src/domain/insertion/lease.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { instant } from '../../src/kernel/wire.ts'

/**
 * Records a lease that the operational store has, behind the end of the one that held its number: no history has a number with two
 * holders. Of a lease that is recorded, records the page, where it is another. Idempotent by session.
 */
export const recordLease = defineCommand({
  name: 'record-lease',
  entity: poolLeases,
  input: z.object({
    lease: leaseEvents.LeaseTaken,
    /** The number's lease before, and when it had expired. */
    before: z.object({ sessionId, occurredAt: instant }).nullable(),
  }),
  id: ({ lease }) => lease.poolId,
  decide({ lease, before }, state) {
    const { sessionId, poolId, number, overflow, occurredAt, url, referrer, params } = lease
    const known = state.open.get(sessionId)
    if (known) {
      if (known.page === pageDigest(lease)) return []
      return [{ type: 'LeaseRevisited', data: { sessionId, poolId, occurredAt, url, referrer, params } }]
    }
    const holder = overflow ? undefined : state.holders.get(number.id)
    if (holder === undefined) return [{ type: 'LeaseTaken', data: lease }]
    const endedAt = before?.sessionId === holder ? before.occurredAt : occurredAt
    const ended = { sessionId: holder, occurredAt: endedAt, reason: 'expired' } as const
    return [...leaseEndedEvents(state, poolId, ended), { type: 'LeaseTaken', data: lease }]
  },
})
