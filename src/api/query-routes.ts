import { z } from 'zod'
import { entityTagOf } from '../domain/configuration/entity-tags.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { AnyQuery } from '../kernel/query.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { ApiRequest, ApiResponse, ApiRoute } from '../ports/api.ts'
import { headerNames } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { QueryPorts } from '../ports/query-ports.ts'
import type { CheckpointTracker } from '../runtime/projections/checkpoint-tracker.ts'
import { type QueryRunner, READ_WAIT_MS } from '../runtime/queries/query-runner.ts'

/** Tells that an answer may not show what it should: the read side is behind. */
export const READ_LAG_HEADER = { [headerNames.readLag]: 'true' } as const

/** The `ETag` of a record's revision: strong, and untouched by usage and today's figures (Supplement 1.17). */
export function etagOf(revision: number | null): Readonly<Record<string, string>> {
  return revision === null ? {} : { etag: entityTagOf(revision) }
}

/** The routes of the registered queries, one for each mount. */
export function queryRoutes(
  queries: readonly AnyQuery<QueryPorts>[],
  runner: QueryRunner,
  clock: Clock,
  requestsWritten: () => Promise<void> = async () => {},
): readonly ApiRoute[] {
  return queries.flatMap((query) =>
    query.mounts.map(({ surface, path, scope = null, ownerOnly = false }): ApiRoute => {
      const run = async ({ params, query: filter, principal, minPosition }: ApiRequest) => {
        const tenant = principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
        if (query.flushesRequestLog) await requestsWritten()
        const now = new Date(clock.now()).toISOString()
        const { actor, sessionHash = null } = principal
        const asked = { name: query.name, params, query: filter, tenant, surface, now, minPosition, actor, sessionHash }
        const answer = await runner.run(asked)
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

/**
 * The routes, their writes refused with StoreUnavailable while the read store is away: what they did could not be read
 * back, so nothing of it is begun.
 */
export function requireReadStore(routes: readonly ApiRoute[], present: () => Promise<unknown>): readonly ApiRoute[] {
  return routes.map((route) =>
    route.write
      ? {
          ...route,
          async run(request) {
            await present()
            return route.run(request)
          },
        }
      : route,
  )
}

/** No parameters in the path, or none that are read from the query string. */
export const noParams = z.object({})

/** Up to where a write can be read back, and the headers that say so. */
export type ReadYourWrites = Required<Pick<ApiResponse, 'headers' | 'position'>>

/** Waits until what was written can be read back, and says so where it cannot yet. */
export async function awaitProjections(
  positions: CheckpointTracker,
  projections: readonly AnyProjection[],
  types: readonly string[],
  position: number,
): Promise<ReadYourWrites> {
  const names = projections.filter(({ events }) => types.some((type) => type in events)).map(({ name }) => name)
  return { headers: (await positions.waitFor(names, position, READ_WAIT_MS)) ? {} : READ_LAG_HEADER, position }
}
