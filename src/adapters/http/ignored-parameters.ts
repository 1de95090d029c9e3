import { z } from 'zod'
import { REQUEST } from '../../domain/shared/limits.ts'
import type { ApiRoute, Principal } from '../../ports/api.ts'

/** Names of the query parameters that a route's schema lists; null where it lists none. */
function listedParameters({ query }: ApiRoute): ReadonlySet<string> | null {
  return query instanceof z.ZodObject ? new Set(Object.keys(query.shape)) : null
}

/** Whether `agencyId` chooses the workspace of a request: only a session in a workspace has several to choose from. */
function readsAgencyId({ tenant, sessionHash }: Principal): boolean {
  return tenant !== null && sessionHash !== undefined
}

/**
 * Creates the reader of a route's unknown query parameters, which are ignored (Supplement 1.2): their names for the response
 * header, percent-encoded; null where there are none.
 */
export function createIgnoredParameters(route: ApiRoute): (query: unknown, principal: Principal) => string | null {
  const listed = listedParameters(route)
  return (query, principal) => {
    if (listed === null || typeof query !== 'object' || query === null) return null
    const isRead = (name: string) => listed.has(name) || (name === 'agencyId' && readsAgencyId(principal))
    const ignored = Object.keys(query).filter((name) => !isRead(name))
    if (ignored.length === 0) return null
    const { count, length } = REQUEST.ignoredParameters
    return ignored
      .slice(0, count)
      .map((name) => encodeURIComponent(name.slice(0, length).toWellFormed()))
      .join(', ')
  }
}
