import { z } from 'zod'
import { publisherUsers } from '../../projections/access/publisher-users.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { SEARCH } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { listQuery, readListPage, textFilter } from '../shared/listing.ts'
import { publisherUserShape, publisherUserShapeOf } from './publisher-user-shape.ts'

/** The people of a publisher's portal: its users, then those whose invitation is open. */
export const listPublisherUsers = defineQuery({
  name: 'list-publisher-users',
  summary: "List the users of a publisher's portal",
  mounts: [{ surface: 'console', path: '/api/tracking/publishers/:id/users' }],
  params: z.object({ id }),
  query: z.object({
    q: z.string().max(SEARCH.text).optional(),
    ...listQuery('publisher-users', ['createdAt', 'name', 'email']),
  }),
  response: pageOf(publisherUserShape),
  reads: [publisherUsers, publishers],
  rejects: ['publisher-not-found'],
  async run({ views }: QueryPorts, { params, query, tenant: { workspaceId }, now }) {
    const publisher = await readOne(views, publishers, workspaceId, params.id)
    if (!publisher) return refuse('publisher-not-found')
    const filter = {
      workspaceId,
      publisherId: publisher.id,
      openUntil: { $gt: now },
      ...textFilter(query.q, ['name', 'email']),
    }
    const { docs, respond } = await readListPage(views, publisherUsers, filter, query, (sort, way) => ({
      status: -1,
      [sort]: way,
    }))
    return respond(docs.map(publisherUserShapeOf))
  },
})
