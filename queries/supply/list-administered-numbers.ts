import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { numberStatus, trackingNumber } from '../../src/domain/supply/number.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, pageOf, queryBoolean } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, readListPage, statusFilter } from '../shared/listing.ts'
import { numberFilter } from '../shared/number-search.ts'
import { withWorkspaces, workspaceReference } from '../shared/workspace-reference.ts'

/** A number as the platform's staff sees it. */
const administeredNumber = trackingNumber.extend({ workspace: workspaceReference }).meta({ id: 'AdministeredNumber' })

/** Numbers of every workspace, for the platform's staff: with `releaseRequested`, those that wait for their release. */
export const listAdministeredNumbers = defineQuery({
  name: 'list-administered-numbers',
  summary: 'List numbers of every workspace, such as those whose release was requested',
  mounts: [{ surface: 'operator', path: '/api/operator/numbers' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.number).optional(),
    status: numberStatus.optional(),
    releaseRequested: queryBoolean.optional(),
    workspaceId: id.optional(),
    ...listQuery('administered-numbers', ['createdAt', 'releaseRequestedAt', 'e164', 'status']),
  }),
  response: pageOf(administeredNumber),
  reads: [numbers, workspaces],
  async run({ views }: QueryPorts, { query }) {
    const { q, status, releaseRequested, workspaceId } = query
    const filter = {
      ...(workspaceId && { workspaceId }),
      ...statusFilter(status, 'released'),
      ...numberFilter(q),
      ...(releaseRequested !== undefined && { releaseRequestedAt: releaseRequested ? { $ne: null } : null }),
    }
    const { docs, respond } = await readListPage(views, numbers, filter, query)
    return respond(await withWorkspaces(views, docs))
  },
})
