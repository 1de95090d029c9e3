import { z } from 'zod'
import { REQUEST } from '../../domain/shared/limits.ts'
import type { ApiRoute } from '../../ports/api.ts'

/** Names of the query parameters that a route reads; null where its schema does not list them. */
function knownParameters({ query, surface }: ApiRoute): ReadonlySet<string> | null {
  if (!(query instanceof z.ZodObject)) return null
  return new Set([...Object.keys(query.shape), ...(surface === 'console' ? ['agencyId'] : [])])
}

/**
 * Creates the reader of a route's unknown query parameters, which are ignored (Supplement 1.2): their names for the response
 * header, percent-encoded; null where there are none.
 */
export function createIgnoredParameters(route: ApiRoute): (query: unknown) => string | null {
  const known = knownParameters(route)
  return (query) => {
    if (known === null || typeof query !== 'object' || query === null) return null
    const ignored = Object.keys(query).filter((name) => !known.has(name))
    if (ignored.length === 0) return null
    const { count, length } = REQUEST.ignoredParameters
    return ignored
      .slice(0, count)
      .map((name) => encodeURIComponent(name.slice(0, length).toWellFormed()))
      .join(', ')
  }
}
