import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { numberOrders } from '../../projections/supply/number-orders.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { numberOrder, orderStatus } from '../../src/domain/supply/number-order.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, readListPage } from '../shared/listing.ts'
import { numberFilter } from '../shared/number-search.ts'
import { withWorkspaces, workspaceReference } from '../shared/workspace-reference.ts'

/** An order of a number as the platform's staff sees it. */
const administeredOrder = numberOrder.extend({ workspace: workspaceReference }).meta({ id: 'AdministeredNumberOrder' })

/** Orders of numbers of every workspace, for the platform's staff: with `status=review`, those that wait for a decision. */
export const listAdministeredNumberOrders = defineQuery({
  name: 'list-administered-number-orders',
  summary: 'List orders of numbers of every workspace, such as those in review',
  mounts: [{ surface: 'operator', path: '/api/operator/orders' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.number).optional(),
    status: orderStatus.optional(),
    workspaceId: id.optional(),
    ...listQuery('administered-number-orders', ['createdAt', 'updatedAt', 'e164', 'status']),
  }),
  response: pageOf(administeredOrder),
  reads: [numberOrders, workspaces],
  async run({ views }: QueryPorts, { query }) {
    const { q, status, workspaceId } = query
    const filter = { ...(workspaceId && { workspaceId }), ...(status && { status }), ...numberFilter(q) }
    const { docs, respond } = await readListPage(views, numberOrders, filter, query)
    return respond(await withWorkspaces(views, docs))
  },
})
