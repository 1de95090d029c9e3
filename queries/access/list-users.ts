import { z } from 'zod'
import { seats } from '../../projections/access/seats.ts'
import { role } from '../../src/domain/access/seat.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, readListPage, textFilter } from '../shared/listing.ts'
import { userShape, userShapeOf } from './user-shape.ts'

/** The people of the workspace: its members, then those whose invitation is open. */
export const listUsers = defineQuery({
  name: 'list-users',
  summary: 'List the people of the workspace',
  mounts: [{ surface: 'console', path: '/api/tracking/users' }],
  params: z.object({}),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    role: role.optional(),
    ...listQuery('users', ['createdAt', 'updatedAt', 'name', 'email', 'role']),
  }),
  response: pageOf(userShape),
  reads: [seats],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId }, now }) {
    const ofRole = query.role === undefined ? {} : { role: query.role }
    const filter = { workspaceId, openUntil: { $gt: now }, ...ofRole, ...textFilter(query.q, ['name', 'email']) }
    const { docs, respond } = await readListPage(views, seats, filter, query, (sort, way) => ({
      status: -1,
      [sort]: way,
    }))
    return respond(docs.map(userShapeOf))
  },
})
