import type { AnyQuery } from '../kernel/query.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { QueryPorts } from '../ports/query-ports.ts'
import type { QueryRunner } from '../runtime/queries/query-runner.ts'
import { etagOf, READ_LAG_HEADER } from './read-your-writes.ts'

/** The routes of the registered queries, one for each mount. */
export function queryRoutes(
  queries: readonly AnyQuery<QueryPorts>[],
  runner: QueryRunner,
  clock: Clock,
  flushUsage: () => Promise<void> = async () => {},
): readonly ApiRoute[] {
  return queries.flatMap((query) =>
    query.mounts.map(({ surface, path, scope = null, ownerOnly = false }): ApiRoute => {
      const run = async ({ params, query: filter, principal, minPosition }: ApiRequest) => {
        const tenant = principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
        if (query.flushesUsage) await flushUsage()
        const now = new Date(clock.now()).toISOString()
        const { actor, sessionHash = null } = principal
        const request = {
          name: query.name,
          params,
          query: filter,
          tenant,
          surface,
          now,
          minPosition,
          actor,
          sessionHash,
        }
        const answer = await runner.run(request)
        if (isRefusal(answer)) return answer
        const headers = { ...query.headers, ...(answer.lag ? READ_LAG_HEADER : {}), ...etagOf(answer.revision) }
        return { status: 200, body: answer.bytes, position: answer.position, headers }
      }
      return {
        method: 'GET',
        path,
        surface,
        scope,
        write: false,
        ownerOnly,
        name: query.name,
        summary: query.summary,
        params: query.params,
        query: query.query,
        body: null,
        responses: { 200: query.response },
        responseHeaders: [...Object.keys(query.headers), ...(query.record ? ['etag'] : [])],
        rejects: query.rejects,
        run,
      }
    }),
  )
}
