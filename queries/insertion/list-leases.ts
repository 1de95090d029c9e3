import { z } from 'zod'
import { leases } from '../../projections/insertion/leases.ts'
import { pools } from '../../projections/supply/pools.ts'
import { tagsOf } from '../../src/domain/calls/tags.ts'
import { leaseRecord } from '../../src/domain/insertion/lease-record.ts'
import { LEASE } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { pageFields, readListPage } from '../shared/listing.ts'

/** A visitor's lease in a response. */
const leaseShape = leaseRecord
  .pick({
    visitorId: true,
    number: true,
    overflow: true,
    url: true,
    referrer: true,
    params: true,
    status: true,
    takenAt: true,
    endedAt: true,
    endReason: true,
  })
  .extend({ sessionId: z.string() })
  .meta({ id: 'Lease' })

/** Leases of a pool's numbers, newest first. */
export const listLeases = defineQuery({
  name: 'list-leases',
  summary: "List a pool's leases",
  mounts: [{ surface: 'console', path: '/api/tracking/pools/:id/leases' }],
  params: z.object({ id }),
  query: z.object({
    status: leaseRecord.shape.status.optional(),
    numberId: id.optional(),
    visitorId: z.string().max(LEASE.visitorId.max).optional(),
    ...pageFields('leases'),
  }),
  response: pageOf(leaseShape),
  reads: [pools, leases],
  rejects: ['pool-not-found'],
  async run({ views }: QueryPorts, { params, query, tenant: { workspaceId } }) {
    if (!(await readOne(views, pools, workspaceId, params.id))) return refuse('pool-not-found')
    const { status, numberId, visitorId } = query
    const filter = {
      workspaceId,
      poolId: params.id,
      ...(status && { status }),
      ...(numberId && { 'number.id': numberId }),
      ...(visitorId && { visitorId }),
    }
    const { docs, respond } = await readListPage(views, leases, filter, query, () => ({ takenAt: -1 }))
    const rows = docs.map(
      ({ id: sessionId, workspaceId: _workspace, poolId: _pool, campaignId: _campaign, ...doc }) => ({
        sessionId,
        ...doc,
        params: tagsOf(doc.params),
      }),
    )
    return respond(rows)
  },
})
