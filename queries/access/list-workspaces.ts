import { z } from 'zod'
import { workspaces } from '../../projections/access/workspaces.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { planId, subscriptionStatus } from '../../src/domain/access/tenant.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { cents, pageOf, queryBoolean } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter } from '../../src/ports/read-store.ts'
import { readReferenced } from '../shared/documents.ts'
import { listQuery, readListPage, textFilter } from '../shared/listing.ts'
import { workspaceShape, workspaceShapeOf } from './workspace-shape.ts'

/** A workspace as the platform's staff sees it. */
export const administeredWorkspace = workspaceShape
  .extend({ balanceCents: cents })
  .meta({ id: 'AdministeredWorkspace' })

/** Every workspace of the platform, for its staff. */
export const listWorkspaces = defineQuery({
  name: 'list-workspaces',
  summary: 'List workspaces',
  mounts: [{ surface: 'operator', path: '/api/operator/workspaces' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    planId: planId.optional(),
    subscriptionStatus: subscriptionStatus.optional(),
    sandbox: queryBoolean.optional(),
    ...listQuery('workspaces', ['createdAt', 'name']),
  }),
  response: pageOf(administeredWorkspace),
  reads: [workspaces, wallets],
  async run({ views }: QueryPorts, { query }) {
    const { q, planId, subscriptionStatus, sandbox } = query
    const named = Object.entries({ planId, subscriptionStatus, sandbox }).filter(([, value]) => value !== undefined)
    const filter: Filter = { ...Object.fromEntries(named), ...textFilter(q, ['name']) }
    const { docs, respond } = await readListPage(views, workspaces, filter, query)
    const money = await readReferenced(views, wallets, docs, ({ id }) => id)
    const rows = docs.map((doc) => ({ ...workspaceShapeOf(doc), balanceCents: money.get(doc.id)?.balanceCents ?? 0 }))
    return respond(rows)
  },
})
