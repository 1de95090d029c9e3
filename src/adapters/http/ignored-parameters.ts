import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { REQUEST } from '../../domain/shared/limits.ts'
import type { ApiRoute, Principal } from '../../ports/api.ts'
import { headerNames } from '../../ports/api-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters of a route that is no API route; an API route's schema lists its own. */
    readonly parameters?: readonly string[]
  }
}

/** Names of the query parameters that a route's schema lists; null where it lists none. */
function listedParameters({ query }: ApiRoute): ReadonlySet<string> | null {
  return query instanceof z.ZodObject ? new Set(Object.keys(query.shape)) : null
}

/** The parameter that chooses what a request acts in; null for none: only a session in a workspace has several to choose from. */
function choosingParameter({ tenant, sessionHash }: Principal): 'agencyId' | 'publisherId' | null {
  if (tenant === null || sessionHash === undefined) return null
  return tenant.publisherId === undefined ? 'agencyId' : 'publisherId'
}

/** The names of the parameters that are not read, for the response header, percent-encoded; null where there are none. */
function nameIgnored(query: unknown, isRead: (name: string) => boolean): string | null {
  const ignored = Object.keys(Object(query)).filter((name) => !isRead(name))
  if (ignored.length === 0) return null
  const { count, length } = REQUEST.ignoredParameters
  return ignored
    .slice(0, count)
    .map((name) => encodeURIComponent(name.slice(0, length).toWellFormed()))
    .join(', ')
}

/** Creates the reader of an API route's unknown query parameters, which are ignored (Supplement 1.2). */
export function createIgnoredParameters(route: ApiRoute): (query: unknown, principal: Principal) => string | null {
  const listed = listedParameters(route)
  return (query, principal) => {
    const choosing = choosingParameter(principal)
    return listed && nameIgnored(query, (name) => listed.has(name) || name === choosing)
  }
}

/** Names the ignored parameters of the other routes: the pages, the documents, the probes. */
export function registerIgnoredParameters(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { parameters } = request.routeOptions.config
    const ignored = parameters && nameIgnored(request.query, (name) => parameters.includes(name))
    if (ignored) reply.header(headerNames.ignoredParameters, ignored)
    done()
  })
}
