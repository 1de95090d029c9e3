import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import type { ApiRoute } from '../../ports/api.ts'
import type { SendRefusal } from './envelope.ts'

/** Methods in the order in which `Allow` lists them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const escapeText = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Pattern of a route's paths: a parameter is one segment or the part of one, `*` is anything. */
function patternOf(url: string): RegExp {
  const parts = url.split(/(:\w+|\*)/).map((part) => {
    if (part === '*') return '.*'
    return /^:\w+$/.test(part) ? '[^/]+' : escapeText(part)
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Whether a route answers HEAD. A generated file does not: an export would be logged although nothing was sent. */
export function hasHead({ method, contentType, hasContentLength = false, direct }: ApiRoute): boolean {
  return method === 'GET' && (contentType === undefined || hasContentLength || direct?.text !== undefined)
}

/** Looks up the methods of paths, in the order of `Allow`. A path is part of a request URL, as sent. */
interface AllowedMethods {
  /** Methods of the routes whose pattern a path has; empty where there is none. A path without parameters hides the others. */
  readonly of: (path: string) => readonly string[]
  /** Methods of the route that has exactly this path; null where there is none. */
  readonly ofExactly: (path: string) => readonly string[] | null
}

/** A path as the router reads it; null where its escapes are malformed. */
function decodedPath(path: string): string | null {
  try {
    return decodeURI(path)
  } catch {
    return null
  }
}

const allowOf = (methods: ReadonlySet<string>) => [...METHODS.filter((method) => methods.has(method)), 'OPTIONS']

/** Watches the routes that a server is given, which must be none yet, and adds those of other processes. */
export function trackAllowedMethods(server: FastifyInstance, elsewhere: readonly ApiRoute[]): AllowedMethods {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  const add = (url: string, methods: readonly string[]) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
    for (const method of methods) if (method !== 'OPTIONS') route.methods.add(method)
    if (route.methods.size > 0) routes.set(url, route)
  }
  server.addHook('onRoute', ({ url, method }) => add(url, [method].flat()))
  for (const route of elsewhere) add(route.path, hasHead(route) ? [route.method, 'HEAD'] : [route.method])
  const ofExactly = (path: string) => {
    const exact = routes.get(path)
    return exact ? allowOf(exact.methods) : null
  }
  return {
    ofExactly,
    of(sent) {
      const path = decodedPath(sent)
      if (path === null) return []
      const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path))
      if (matching.length === 0) return []
      return ofExactly(path) ?? allowOf(new Set(matching.flatMap(({ methods }) => [...methods])))
    },
  }
}

const pathOf = ({ originalUrl }: FastifyRequest) => originalUrl.split('?')[0] ?? ''

/**
 * Answers OPTIONS without the headers of a preflight request with the methods of the path; those with them are left to the
 * plug-in.
 */
export function registerOptions(server: FastifyInstance, send: SendRefusal, allowedMethods: AllowedMethods): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { origin, 'access-control-request-method': requested } = request.headers
    if (request.method !== 'OPTIONS' || (origin !== undefined && requested !== undefined)) return done()
    const allowed = allowedMethods.of(pathOf(request))
    if (allowed.length === 0) send(reply, refuse('not-found'))
    else
      reply
        .code(204)
        .headers({ allow: allowed.join(', '), 'access-control-allow-origin': '*' })
        .send()
  })
}

/**
 * Answers requests that no route takes before their bodies are read: 405 where their path exists under another method, 404
 * elsewhere (Supplement §1.20). A path such as `/numbers/search` is no id of `/numbers/:id`, whose other methods the router
 * would take it for.
 */
export function registerUnknownRoutes(
  server: FastifyInstance,
  send: SendRefusal,
  allowedMethods: AllowedMethods,
): void {
  const refuseRequest = ({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]) => {
    if (allowed.length === 0 || allowed.includes(method)) return send(reply, refuse('not-found'))
    const methods = allowed.join(', ')
    return send(
      reply.header('allow', methods),
      refuse('method-not-allowed', null, `This path takes ${methods}, and not ${method}.`),
    )
  }
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) return void refuseRequest(request, reply, allowedMethods.of(pathOf(request)))
    if (!request.routeOptions.url?.includes(':')) return done()
    const allowed = allowedMethods.ofExactly(pathOf(request))
    if (allowed === null || allowed.includes(request.method)) return done()
    refuseRequest(request, reply, allowed)
  })
}
