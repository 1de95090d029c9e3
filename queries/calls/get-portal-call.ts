import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { portalCallRow, portalCallRowOf } from './portal-call-row.ts'

/** A call of a publisher. */
export const getPortalCall = defineQuery({
  name: 'get-portal-call',
  summary: "Read one of the publisher's calls",
  mounts: [{ surface: 'portal', path: '/api/portal/calls/:id' }],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ call: portalCallRow }),
  reads: [callLog],
  rejects: ['call-not-found'],
  async run({ views }: QueryPorts, { params, tenant }) {
    const call = await readOne(views, callLog, tenant.workspaceId, params.id)
    return call?.publisher?.id === portalPublisher(tenant) ? { call: portalCallRowOf(call) } : refuse('call-not-found')
  },
})
