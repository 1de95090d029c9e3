import type { AddressInfo } from 'node:net'
import cors from '@fastify/cors'
import underPressure from '@fastify/under-pressure'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { REQUEST } from '../../domain/shared/limits.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ApiRoute, Authenticator } from '../../ports/api.ts'
import { type Cursors, headerNames } from '../../ports/api-headers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { AnsweredRequest, RequestLog } from '../../ports/request-log.ts'
import { registerOptions, registerUnknownRoutes, trackAllowedMethods } from './allowed-methods.ts'
import { acceptBytes, acceptJson, RefusalError } from './body.ts'
import { trackConnections } from './connections.ts'
import { mountDirect, registerNoStore } from './direct.ts'
import { registerDocumentation } from './documentation.ts'
import { createClientErrorHandler, createErrorHandler, createRefusalSender, type SendRefusal } from './envelope.ts'
import { createRequestIdReader, exposedHeaders, remoteAddressOf } from './headers.ts'
import { registerIgnoredParameters } from './ignored-parameters.ts'
import { mountRoute } from './mount.ts'
import { createDocuments, type Documents } from './openapi/document.ts'
import { mountOperations, type Operations } from './operations.ts'
import type { NoBidText } from './pages/guide-values.ts'
import { registerPages } from './pages/pages.ts'
import { requireKnownRefusals } from './refusals.ts'

/** One finished request, for the metrics. `route` is the pattern, null where none matched. */
export interface RequestSample {
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly ms: number
}

/** Dependencies and settings of the HTTP server. */
export interface HttpOptions extends Operations {
  readonly title: string
  readonly version: string
  /** Address that clients use; by default the one that the documentation was fetched from. */
  readonly baseUrl?: () => string
  readonly routes: readonly ApiRoute[]
  /** Routes of the platform that processes of other roles serve: their methods and paths are known here, too. */
  readonly routesElsewhere?: readonly ApiRoute[]
  /** Scopes that an API key may have, for the guide; none by default. */
  readonly scopes?: readonly string[]
  /** Why a publisher's ping gets no offer, for the guide; none by default. */
  readonly noBids?: readonly NoBidText[]
  readonly authenticate: Authenticator
  readonly cursors: Cursors
  /** Newest log position that this process knows: the `svc-position` of a response to a credential without a position of its own. */
  readonly position: () => number
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  /** Proxies whose `X-Forwarded-For` is trusted, as Fastify's option. */
  readonly trustProxy: NonNullable<FastifyServerOptions['trustProxy']>
  /** `Retry-After` of a 503 in seconds. */
  readonly unavailableAfterSeconds: number
  /** Above any of these limits the process answers 503. 0 or undefined disables a limit. */
  readonly pressure: {
    readonly maxEventLoopDelay?: number
    readonly maxHeapUsedBytes?: number
    readonly maxRssBytes?: number
    /** Sampling interval in milliseconds. */
    readonly sampleInterval?: number
  }
  /** Largest body of a route in bytes; the general limit by default. */
  readonly bodyLimit?: (route: ApiRoute) => number
  readonly observe?: (sample: RequestSample) => void
  readonly limiter: RateLimiter
  /** Receives every answered request of a valid API key, refused ones too. */
  readonly requestLog?: Pick<RequestLog, 'add'>
}

/** The open HTTP server. */
export interface HttpServer {
  /** Listens, and returns the port (port 0 picks one). @throws ListenError with a sentence for the operator */
  readonly listen: (port: number, host: string) => Promise<number>
  /**
   * Refuses new connections, answers what arrives on open ones for `drainMs` (0 by default), finishes accepted requests, and closes
   * the remaining connections after `graceMs`.
   */
  readonly close: (graceMs: number, drainMs?: number) => Promise<void>
  readonly inject: FastifyInstance['inject']
  /** The OpenAPI document of one surface, or of all. */
  readonly openapi: Documents['of']
}

/** The server cannot listen on the port; the message says why in one sentence. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is already listening there',
  EACCES: 'this user may not listen on that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name cannot be resolved',
}

function toListenError(error: unknown, port: number, host: string): ListenError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new ListenError(`Cannot listen on ${host}:${port}: ${listenProblems[code] ?? String(error)}.`)
}

/** Timeout of receiving a whole request, in milliseconds. */
const requestTimeout = 60_000
/** How long browsers cache a preflight response, in seconds: a day. */
const preflightAge = 86_400

/** Size of the cache of parsed query strings, and the longest of them (characters): pages ask for the same ones again and again. */
const QUERY_STRING_CACHE = { entries: 1_000, characters: 1_000 } as const

/**
 * Creates the parser of query strings: the last value of a repeated parameter wins, and no key reaches the prototype. Equal
 * strings give the same object, so that what is made of it can be cached by it.
 */
function createQuerystringParser(): (text: string) => Record<string, string> {
  const parse = (text: string) => Object.freeze(Object.fromEntries(new URLSearchParams(text)))
  const cache = new LRUCache<string, Record<string, string>>({ max: QUERY_STRING_CACHE.entries, memoMethod: parse })
  return (text) => (text.length > QUERY_STRING_CACHE.characters ? parse(text) : cache.memo(text))
}

/** Browsers must not guess the type of a response, and must keep using TLS. */
const securityHeaders = { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=31536000' }

function stamp(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ ...securityHeaders, [headerNames.requestId]: request.id })
}

/** Request log record of an API key's request; null for any other request. */
function answeredRequestOf(request: FastifyRequest, { method, status, ms }: RequestSample): AnsweredRequest | null {
  const { actor } = request.caller ?? {}
  if (actor?.type !== 'key' || actor.id === null) return null
  const [path = '', ...query] = request.originalUrl.split('?')
  return {
    keyId: actor.id,
    method,
    path,
    query: query.length === 0 ? null : query.join('?'),
    status,
    ms,
    ip: remoteAddressOf(request),
    userAgent: request.headers['user-agent'] ?? null,
    errorCode: request.errorCode,
  }
}

/** Stamps every response, and writes one log line for each request but the probes: the route's pattern, never the query or a header. */
function registerRequestLog(server: FastifyInstance, { log, observe, requestLog }: HttpOptions): void {
  server.addHook('onRequest', (request, reply, done) => {
    stamp(request, reply)
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.isProbe) return done()
    const sample = {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
    }
    log.info({ requestId: request.id, ...sample }, 'request')
    observe?.(sample)
    const answered = requestLog && answeredRequestOf(request, sample)
    if (answered) requestLog.add(answered)
    done()
  })
}

/**
 * Refuses a request under pressure. A sample in which the event loop turned only once holds no delay, and the library reports
 * it as an infinite one: so does the first of a start that was busy for a second.
 */
async function refuseUnderPressure(_request: unknown, _reply: unknown, _type: string, value?: number): Promise<void> {
  if (value !== Number.POSITIVE_INFINITY) throw new RefusalError(refuse('unavailable'))
}

async function registerProtections(server: FastifyInstance, { pressure }: HttpOptions): Promise<void> {
  // Before what refuses under pressure, so that pages can read that refusal, too.
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [...exposedHeaders],
    maxAge: preflightAge,
    // A malformed preflight would be answered outside the envelope.
    strictPreflight: false,
  })
  await server.register(underPressure, { ...pressure, pressureHandler: refuseUnderPressure })
}

function createServer(send: SendRefusal, { log, random, trustProxy }: HttpOptions): FastifyInstance {
  const onThrown = createErrorHandler(send)
  const newRequestId = createRequestIdReader(random)
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy,
    requestTimeout,
    return503OnClosing: false,
    bodyLimit: REQUEST.bodyBytes,
    routerOptions: { querystringParser: createQuerystringParser(), maxParamLength: REQUEST.path },
    clientErrorHandler: createClientErrorHandler(() => newRequestId({ headers: {} })),
    frameworkErrors: (error, request, reply) => {
      stamp(request, reply)
      onThrown(error, request, reply)
    },
  })
  server.setErrorHandler(onThrown)
  server.setValidatorCompiler(() => () => true)
  server.setSerializerCompiler(() => (value) => JSON.stringify(value))
  return server
}

/**
 * Creates the HTTP server, ready to listen. Each request passes credential → rate → path → query and body → `run`.
 * @throws Error when a route declares a refusal without a status
 */
export async function openHttpServer(options: HttpOptions): Promise<HttpServer> {
  requireKnownRefusals(options.routes)
  const { routes, authenticate, limiter, clock, bodyLimit = () => REQUEST.bodyBytes, unavailableAfterSeconds } = options
  const send = createRefusalSender(unavailableAfterSeconds)
  const server = createServer(send, options)
  let closing = false
  const connections = trackConnections(server.server, clock)
  server.decorateRequest('caller', null)
  server.decorateRequest('admitted', null)
  server.decorateRequest('errorCode', null)
  // A kept-alive connection would delay the stop long after its last response.
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  acceptJson(server)
  registerNoStore(server)
  registerRequestLog(server, options)
  const { routesElsewhere = [], scopes = [], noBids = [] } = options
  const allowedMethods = trackAllowedMethods(server, routesElsewhere)
  registerOptions(server, send, allowedMethods)
  await registerProtections(server, options)
  registerUnknownRoutes(server, send, allowedMethods)
  registerIgnoredParameters(server)
  const declared = [...routes, ...routesElsewhere].filter(({ undocumented }) => !undocumented)
  const documents = createDocuments(options, declared)
  registerDocumentation(server, send, documents)
  await registerPages(server, { ...options, routes: declared, scopes, noBids })
  mountOperations(server, send, {
    ...options,
    readiness: async () =>
      closing ? { ready: false, problems: ['The server is stopping.'], warnings: [] } : options.readiness(),
  })
  const { cursors, position } = options
  const newestCursor = () => cursors.write(position())
  const onThrown = createErrorHandler(send)
  const mounting = { authenticate, send, limiter, bodyLimit, cursors, newestCursor, onThrown }
  const mount = (scope: FastifyInstance, route: ApiRoute) =>
    route.direct ? mountDirect(scope, route, mounting) : mountRoute(scope, route, mounting)
  for (const route of routes) if (!route.raw) mount(server, route)
  await server.register(async (raw) => {
    acceptBytes(raw)
    for (const route of routes) if (route.raw) mount(raw, route)
  })
  await server.ready()
  return {
    async listen(port, host) {
      try {
        await server.listen({ port, host })
      } catch (error) {
        throw toListenError(error, port, host)
      }
      return (server.server.address() as AddressInfo).port
    },
    async close(graceMs, drainMs = 0) {
      closing = true
      const cancel = clock.schedule(clock.now() + graceMs, () => server.server.closeAllConnections())
      if (drainMs > 0) await connections.drain(drainMs)
      connections.closeSilent()
      await server.close()
      cancel()
    },
    inject: server.inject.bind(server),
    openapi: documents.of,
  }
}
