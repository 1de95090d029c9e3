import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
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
import type { Logger } from 'pino'
import { REQUEST } from '../../domain/shared/limits.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ApiRoute, Authenticator } from '../../ports/api.ts'
import { headerNames } from '../../ports/api-headers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { AnsweredRequest, RequestLog } from '../../ports/request-log.ts'
import { acceptBytes, acceptJson } from './body.ts'
import { createClientErrorHandler, createErrorHandler, createRefusalSender, type SendRefusal } from './envelope.ts'
import { withHeaders } from './header-docs.ts'
import { createCursorWriter, createRequestIdReader, exposedHeaders, remoteAddressOf } from './headers.ts'
import { mountRoute } from './mount.ts'
import { createDocumentationContext, documentOf, toJsonSchemas } from './openapi.ts'
import { mountOperations, type Operations } from './operations.ts'
import { requireKnownRefusals } from './refusals.ts'

/** One finished request, for the metrics. `route` is the pattern, null where none matched. */
export interface RequestSample {
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly ms: number
}

/** What the edge is made of. */
export interface HttpOptions extends Operations {
  readonly title: string
  readonly version: string
  readonly routes: readonly ApiRoute[]
  readonly authenticate: Authenticator
  /** The newest log position that this process knows of: what `svc-position` says where an answer has none of its own. */
  readonly position: () => number
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  /** Whose `X-Forwarded-For` is believed, as Fastify takes it. */
  readonly trustProxy: NonNullable<FastifyServerOptions['trustProxy']>
  /** Seconds that `Retry-After` tells with a 503. */
  readonly unavailableAfterSeconds: number
  /** Past any of these the process answers 503 rather than queue; 0 or nothing switches one off. */
  readonly pressure: {
    readonly maxEventLoopDelay?: number
    readonly maxHeapUsedBytes?: number
    readonly maxRssBytes?: number
    /** Milliseconds between looks. */
    readonly sampleInterval?: number
  }
  /** Bytes of the largest body that a route takes; the general limit by default. */
  readonly bodyLimit?: (route: ApiRoute) => number
  readonly observe?: (sample: RequestSample) => void
  readonly limiter: RateLimiter
  /** Told of every answered request of an API key that works, whatever came of it. */
  readonly requestLog?: Pick<RequestLog, 'add'>
}

/** The open edge. */
export interface HttpServer {
  /** Listens and answers the port (port 0 picks one). @throws CannotListen with a sentence for the operator. */
  readonly listen: (port: number, host: string) => Promise<number>
  /** Takes no more connections, finishes what was accepted, and hangs up on what is not done in time. */
  readonly close: (graceMs: number) => Promise<void>
  readonly inject: FastifyInstance['inject']
  readonly openapi: () => object
}

/** The port cannot be had; the message says why in one sentence. */
export class ListenError extends Error {
  override readonly name = 'CannotListen'
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

/** Milliseconds that a client has to send its whole request. */
const requestTimeout = 60_000
/** Seconds for which a browser keeps a preflight's answer: a day. */
const preflightAge = 86_400

/** Query strings by their last word: a repeated parameter's last value wins, and no key reaches the prototype. */
function querystringParser(text: string): Record<string, string> {
  return text === '' ? {} : Object.fromEntries(new URLSearchParams(text))
}

/** Answers are data, never pages: nothing may guess their type, and once asked over TLS, always. */
const securityHeaders = { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=31536000' }

type Stamp = (request: FastifyRequest, reply: FastifyReply) => void

function createStamp(position: () => number): Stamp {
  const write = createCursorWriter()
  return (request, reply) => {
    reply.headers({
      ...securityHeaders,
      [headerNames.requestId]: request.id,
      [headerNames.position]: write(position()),
    })
  }
}

/** A request of an API key as its log takes it; null for any other. */
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

/** Marks every response, and writes one log line for each: the route's pattern, never the query or a header. */
function registerRequestLog(server: FastifyInstance, stamp: Stamp, { log, observe, requestLog }: HttpOptions): void {
  server.addHook('onRequest', (request, reply, done) => {
    stamp(request, reply)
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
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

async function registerProtections(
  server: FastifyInstance,
  { pressure, unavailableAfterSeconds }: HttpOptions,
): Promise<void> {
  await server.register(underPressure, { ...pressure, retryAfter: unavailableAfterSeconds })
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [...exposedHeaders],
    maxAge: preflightAge,
  })
}

/** The documentation; its page is the one thing here that a browser renders, so it gets a page's protections. */
async function registerDocumentation(server: FastifyInstance, options: HttpOptions): Promise<void> {
  await server.register(swagger, {
    openapi: documentOf(options),
    transform: toJsonSchemas,
    transformObject: (document) =>
      'openapiObject' in document ? withHeaders(document.openapiObject, options.routes) : {},
  })
  await server.register(async (docs) => {
    await docs.register(helmet, { contentSecurityPolicy: false })
    await docs.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  })
  server.get('/openapi.json', { schema: { hide: true } }, async () => server.swagger())
}

function createServer(stamp: Stamp, send: SendRefusal, { log, random, trustProxy }: HttpOptions): FastifyInstance {
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
    routerOptions: { querystringParser, maxParamLength: REQUEST.path },
    clientErrorHandler: createClientErrorHandler(() => newRequestId({ headers: {} })),
    frameworkErrors: (error, request, reply) => {
      stamp(request, reply)
      onThrown(error, request, reply)
    },
  })
  server.setErrorHandler(onThrown)
  server.setNotFoundHandler((_request, reply) => send(reply, refuse('not-found')))
  server.setValidatorCompiler(() => () => true)
  server.setSerializerCompiler(() => (value) => JSON.stringify(value))
  return server
}

/**
 * Hangs up on connections on which nothing has been asked yet: Node does not count them among the idle ones, and browsers
 * open them ahead of need.
 */
function trackSilentConnections({ server }: FastifyInstance): () => void {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
  return () => {
    for (const socket of silent) socket.destroy()
  }
}

/**
 * Makes the HTTP edge, ready to listen. Every request passes credential → path → query and body → `run`.
 * @throws Error at once when a route declares a refusal that has no status.
 */
export async function openHttpServer(options: HttpOptions): Promise<HttpServer> {
  requireKnownRefusals(options.routes)
  const { routes, authenticate, limiter, clock, bodyLimit = () => REQUEST.bodyBytes, unavailableAfterSeconds } = options
  const stamp = createStamp(options.position)
  const send = createRefusalSender(unavailableAfterSeconds)
  const server = createServer(stamp, send, options)
  let closing = false
  const hangUp = trackSilentConnections(server)
  server.decorateRequest('caller', null)
  server.decorateRequest('admitted', null)
  server.decorateRequest('errorCode', null)
  // A connection that is kept would hold a stopping server up long after its last answer.
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  acceptJson(server)
  registerRequestLog(server, stamp, options)
  await registerProtections(server, options)
  await registerDocumentation(server, options)
  mountOperations(server, send, {
    ...options,
    readiness: async () => (closing ? { ready: false, problems: ['The server is stopping.'] } : options.readiness()),
  })
  const mounting = { authenticate, send, limiter, bodyLimit, documentation: createDocumentationContext(routes) }
  for (const route of routes) if (!route.raw) mountRoute(server, route, mounting)
  await server.register(async (taking) => {
    acceptBytes(taking)
    for (const route of routes) if (route.raw) mountRoute(taking, route, mounting)
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
    async close(graceMs) {
      closing = true
      const cancel = clock.schedule(clock.now() + graceMs, () => server.server.closeAllConnections())
      hangUp()
      await server.close()
      cancel()
    },
    inject: server.inject.bind(server),
    openapi: () => server.swagger(),
  }
}
