import { z } from 'zod'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readAll } from '../shared/documents.ts'
import { platformShapes, verticalShape, verticalShapeOf } from './vertical-shape.ts'

/** The platform's verticals, then the workspace's own by name, including inactive ones. */
export const listVerticals = defineQuery({
  name: 'list-verticals',
  summary: 'List verticals',
  mounts: [{ surface: 'console', path: '/api/tracking/verticals' }],
  params: z.object({}),
  query: z.object({}),
  response: z.object({ verticals: z.array(verticalShape) }),
  reads: [verticals],
  async run({ views }: QueryPorts, { tenant: { workspaceId } }) {
    const own = await readAll(views, verticals, { filter: { workspaceId }, sort: { name: 1 } })
    return { verticals: [...platformShapes, ...own.map(verticalShapeOf)] }
  },
})
