import { z } from 'zod'
import { tagOf } from '../domain/configuration/record.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { AnyQuery } from '../kernel/query.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { ApiAnswer, ApiRequest, ApiRoute } from '../ports/api.ts'
import { headerNames } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { QueryPorts } from '../ports/query-ports.ts'
import type { Positions } from '../runtime/projections/checkpoint-tracker.ts'
import { type QueryRunner, READ_WAIT_MS } from '../runtime/queries/query-runner.ts'

/** Tells that an answer may not show what it should: the read side is behind. */
export const READ_LAG = { [headerNames.readLag]: 'true' } as const

/** The `ETag` of a record's revision: strong, and untouched by usage and today's figures (Supplement 1.17). */
export function etagOf(revision: number | null): Readonly<Record<string, string>> {
  return revision === null ? {} : { etag: tagOf(revision) }
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
        if (query.telemetry) await requestsWritten()
        const now = new Date(clock.now()).toISOString()
        const { actor, sessionHash = null } = principal
        const asked = { name: query.name, params, query: filter, tenant, surface, now, minPosition, actor, sessionHash }
        const answer = await runner.ask(asked)
        if (isRefusal(answer)) return answer
        const headers = { ...query.headers, ...(answer.lag ? READ_LAG : {}), ...etagOf(answer.revision) }
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
        sends: [...Object.keys(query.headers), ...(query.record ? ['etag'] : [])],
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
export function needingReadStore(routes: readonly ApiRoute[], present: () => Promise<unknown>): readonly ApiRoute[] {
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
export const NOTHING = z.object({})

/** Up to where a write can be read back, and the headers that say so. */
export type ReadBack = Required<Pick<ApiAnswer, 'headers' | 'position'>>

/** Waits until what was written can be read back, and says so where it cannot yet. */
export async function readBack(
  positions: Positions,
  projections: readonly AnyProjection[],
  types: readonly string[],
  position: number,
): Promise<ReadBack> {
  const names = projections.filter(({ events }) => types.some((type) => type in events)).map(({ name }) => name)
  return { headers: (await positions.wait(names, position, READ_WAIT_MS)) ? {} : READ_LAG, position }
}
