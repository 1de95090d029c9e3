import { z } from 'zod'
import { apiKeys } from '../../projections/access/api-keys.ts'
import { requestRecord, requestSeries } from '../../src/domain/access/request-log.ts'
import { PAGE } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant, pageOf, queryInteger, skipOf } from '../../src/kernel/wire.ts'
import type { LogRecord } from '../../src/ports/operational-store.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { cutPage } from '../shared/list-cursor.ts'
import { atCursor, pageFields, pageResponse } from '../shared/listing.ts'
import { timeWindowFields, timeWindowProblem } from '../shared/time-window.ts'

const requestRow = requestRecord.extend({ id, at: instant }).meta({ id: 'LoggedRequest' })

function requestRowOf({ id, at, value }: LogRecord): z.infer<typeof requestRow> {
  return { id, at: new Date(at).toISOString(), ...requestRecord.parse(value) }
}

/** The requests of an API key in the last thirty days, newest first. */
export const listApiKeyRequests = defineQuery({
  name: 'list-api-key-requests',
  summary: "List an API key's requests",
  mounts: [{ surface: 'console', path: '/api/tracking/api-keys/:id/requests' }],
  params: z.object({ id }),
  query: z.object({
    ...timeWindowFields,
    status: queryInteger({ min: 100, max: 599 }).optional(),
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
    ...pageFields('api-key-requests', PAGE.longDefault),
  }),
  response: pageOf(requestRow),
  headers: { 'cache-control': 'no-store' },
  reads: [apiKeys],
  flushesUsage: true,
  rejects: ['api-key-not-found', 'validation-error'],
  async run({ views, ops }: QueryPorts, { params, query, tenant, now }) {
    const { from, to, status, method } = query
    const problem = timeWindowProblem(query)
    if (problem) return problem
    const apiKey = await readOne(views, apiKeys, tenant.workspaceId, params.id)
    if (!apiKey) return refuse('api-key-not-found')
    const asked = atCursor(query)
    const { after, pageSize } = asked
    const { records, total } = await ops.queryLog(requestSeries(apiKey.id), Date.parse(now), {
      labels: [...(method === undefined ? [] : [method]), ...(status === undefined ? [] : [String(status)])],
      ...(from === undefined ? {} : { from: Date.parse(from) }),
      ...(to === undefined ? {} : { to: Date.parse(to) }),
      after: after && { id: after.id, at: Number(after.values[0]) },
      skip: after ? 0 : skipOf(asked),
      // One more than the page has tells whether another page follows.
      limit: pageSize + 1,
    })
    const { page, next } = cutPage(records, pageSize, ({ id, at }) => ({ id, values: [at] }))
    return pageResponse(page.map(requestRowOf), asked, { total, next })
  },
})
