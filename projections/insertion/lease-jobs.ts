import { leaseEvents } from '../../src/domain/insertion/lease.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerId } from '../shared/timers.ts'

const { LeaseTaken, LeaseEnded } = leaseEvents
const events = { LeaseTaken, LeaseEnded }

/**
 * Leases that expire: one timer for each pool that has any. Heartbeats change no document: its job looks at the leases themselves, and
 * says when it is due again.
 */
export const leaseJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string>({
    LeaseTaken: ({ data }) => timerId('lease_end', data.poolId),
    LeaseEnded: ({ data }) => timerId('lease_end', data.poolId),
  }),
  create: {
    LeaseTaken: ({ data: { poolId, expiresAt }, meta }) =>
      meta.workspaceId === null
        ? null
        : {
            workspaceId: meta.workspaceId,
            kind: 'lease_end',
            dueAt: Date.parse(expiresAt),
            subjectId: poolId,
            amountCents: null,
            openLeases: 1,
          },
  },
  update: {
    LeaseTaken: (doc) => ({ ...doc, openLeases: (doc.openLeases ?? 0) + 1 }),
    LeaseEnded: ({ openLeases = 1, ...doc }) => (openLeases > 1 ? { ...doc, openLeases: openLeases - 1 } : null),
  },
})
