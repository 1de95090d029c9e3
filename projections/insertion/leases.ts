import { storedTag } from '../../src/domain/calls/tags.ts'
import { type LeasePage, leaseEvents } from '../../src/domain/insertion/lease.ts'
import { type LeaseRecord, leaseRecord } from '../../src/domain/insertion/lease-record.ts'
import { LEASE } from '../../src/domain/shared/limits.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const DAY_MS = 86_400_000

const pageOf = ({ url, referrer, params }: LeasePage): LeasePage => ({
  url,
  referrer,
  params: Object.fromEntries(Object.entries(params).map(([key, value]) => [storedTag(key), value])),
})

type Taken = RecordedOf<typeof leaseEvents, 'LeaseTaken'>

/** The document of a live lease; a lease that is taken again after its end replaces the earlier one. */
function liveLease({ data, meta }: Taken): LeaseRecord | null {
  if (meta.workspaceId === null) return null
  const { poolId, campaignId, visitorId, number, overflow, occurredAt } = data
  return {
    workspaceId: meta.workspaceId,
    poolId,
    campaignId,
    visitorId,
    number,
    overflow,
    ...pageOf(data),
    status: 'live',
    takenAt: occurredAt,
    endedAt: null,
    endReason: null,
  }
}

/** Visitors' leases, by session; one that has ended is kept for 30 days. */
export const leases = defineProjection({
  name: 'leases',
  version: 1,
  events: leaseEvents,
  doc: leaseRecord,
  indexes: [
    { workspaceId: 1, poolId: 1, takenAt: -1 },
    { workspaceId: 1, poolId: 1, status: 1, takenAt: -1 },
  ],
  key: ({ data }) => data.sessionId,
  create: { LeaseTaken: liveLease },
  update: {
    LeaseTaken: (_doc, event) => liveLease(event),
    LeaseRevisited: (doc, { data }): LeaseRecord => ({ ...doc, ...pageOf(data) }),
    LeaseEnded: (doc, { data }): LeaseRecord =>
      doc.status === 'ended' ? doc : { ...doc, status: 'ended', endedAt: data.occurredAt, endReason: data.reason },
  },
  expiresAt: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt) + LEASE.retentionDays * DAY_MS),
})
