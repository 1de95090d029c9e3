import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import {
  type ApiClient,
  type ApiResponse,
  type ApiRoute,
  type Authenticator,
  type Connection,
  isAnonymous,
  isStream,
  type Principal,
} from '../../ports/api.ts'
import { type Cursors, headerNames } from '../../ports/api-headers.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { SendRefusal } from './envelope.ts'
import { bearerOf, idempotencyKeyOf, remoteAddressOf } from './headers.ts'
import { createIgnoredParameters } from './ignored-parameters.ts'
import { createRateCheck } from './rate-check.ts'
import { messageOf, notFoundRefusalOf } from './refusals.ts'
import { createReader } from './request-reader.ts'

/** A request whose credential and path have been accepted. */
interface AdmittedRequest {
  readonly principal: Principal
  readonly params: unknown
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Client of the credential, also when a later check refuses the request; null without a valid credential. */
    caller: ApiClient | null
    admitted: AdmittedRequest | null
  }
}

/** The server's services that a route needs. */
export interface MountContext {
  readonly authenticate: Authenticator
  readonly send: SendRefusal
  readonly limiter: RateLimiter
  /** Largest body of a route in bytes. */
  readonly bodyLimit: (route: ApiRoute) => number
  readonly cursors: Cursors
  /** Cursor of the newest log position that this process knows. */
  readonly newestCursor: () => string
  /** Answers what was thrown. */
  readonly onThrown: (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply
}

/** A text in the query string; null for none. */
function queryText({ query }: FastifyRequest, name: string): string | null {
  const named = query instanceof Object ? Reflect.get(query, name) : undefined
  return typeof named === 'string' ? named : null
}

/** Creates the hook that checks the credential, its rate and the path, before the body is read (Supplement §1.13). */
function createAdmissionHook(route: ApiRoute, { authenticate, send, limiter, newestCursor }: MountContext) {
  const limit = createRateCheck(limiter)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const bearer = bearerOf(request.headers.authorization)
    const credentials = {
      bearer,
      agencyId: queryText(request, 'agencyId'),
      publisherId: queryText(request, 'publisherId'),
      ip: remoteAddressOf(request),
    }
    const principal = await authenticate(route, credentials)
    const refused = isRefusal(principal)
    request.caller = refused ? (principal.client ?? null) : principal
    if (request.caller && !isAnonymous(route.surface)) reply.header(headerNames.position, newestCursor())
    const overRate = request.caller && (await limit(reply, request.caller, refused))
    if (refused) return send(reply, { ...principal, message: principal.message ?? messageOf(route, principal.refused) })
    if (overRate) return send(reply, overRate)
    const params = route.params.safeParse(request.params)
    if (!params.success) return send(reply, refuse(notFoundRefusalOf(route, String(params.error.issues[0]?.path[0]))))
    const idempotencyKey = idempotencyKeyOf(request.headers) ?? null
    const absent = await route.notFoundParam?.({ params: params.data, principal, idempotencyKey })
    if (absent) return send(reply, refuse(notFoundRefusalOf(route, absent)))
    request.admitted = { principal, params: params.data }
    return undefined
  }
}

/** Sends a response: bytes and streams unchanged, any other value as JSON, null as an empty body. */
export function sendResponse(
  reply: FastifyReply,
  { status, body, headers, position }: ApiResponse,
  cursors: Cursors,
): FastifyReply {
  reply.code(status)
  if (position !== null) reply.header(headerNames.position, cursors.write(position))
  if (body === null) return reply.headers(headers ?? {}).send()
  reply.header('content-type', 'application/json; charset=utf-8')
  if (headers) reply.headers(headers)
  if (isStream(body)) {
    if (reply.request.method !== 'HEAD') return reply.send(Readable.from(body, { objectMode: false }))
    // The stream is not read for HEAD, so it is closed. The result of closing is ignored.
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => undefined)
    return reply.send()
  }
  return reply.send(body instanceof Uint8Array ? body : JSON.stringify(body))
}

/** The connection of a request's client. */
export function connectionOf(reply: FastifyReply): Connection {
  let controller: AbortController | null = null
  return {
    closeSignal() {
      if (controller) return controller.signal
      const created = new AbortController()
      controller = created
      if (reply.raw.closed || reply.raw.destroyed) created.abort()
      else reply.raw.once('close', () => created.abort())
      return created.signal
    },
    drop: () => void reply.raw.destroy(),
  }
}

function createHandler(route: ApiRoute, { send, cursors }: MountContext) {
  const read = createReader(route, cursors)
  const ignoredParametersOf = createIgnoredParameters(route)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.admitted === null) throw new Error(`${route.name} was reached without its checks`)
    const ignored = ignoredParametersOf(request.query, request.admitted.principal)
    if (ignored !== null) reply.header(headerNames.ignoredParameters, ignored)
    const parts = read(request)
    if (isRefusal(parts)) return send(reply, parts)
    const response = await route.run({
      ...request.admitted,
      ...parts,
      surface: route.surface,
      requestId: request.id,
      ip: remoteAddressOf(request),
      connection: connectionOf(reply),
    })
    if (isRefusal(response)) {
      const message = response.message ?? messageOf(route, response.refused)
      if (response.position !== undefined) reply.header(headerNames.position, cursors.write(response.position))
      return send(reply.headers(response.headers ?? {}), { ...response, message })
    }
    if (response.fault !== undefined)
      request.log.error(
        { requestId: request.id, route: route.path, err: response.fault },
        'write could not be read back',
      )
    return sendResponse(reply, response, cursors)
  }
}

/** Tells a route of a request whose body was refused before it was read, beside the answer. */
function createUnreadableHandler(route: ApiRoute, { onThrown }: MountContext) {
  const { onUnreadable } = route
  if (!onUnreadable) return {}
  return {
    errorHandler(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
      const answered = onThrown(thrown, request, reply)
      const status = reply.statusCode
      if (status >= 400 && status < 500) {
        const { params, headers, id: requestId } = request
        const told = onUnreadable({ params, headers, requestId, ip: remoteAddressOf(request), status })
        told.catch((err: unknown) => request.log.error({ requestId, err }, 'a refused request could not be recorded'))
      }
      return answered
    },
  }
}

/** Mounts a route with its checks, its handler and its documentation. */
export function mountRoute(server: FastifyInstance, route: ApiRoute, context: MountContext): void {
  const checks = {
    onRequest: createAdmissionHook(route, context),
    handler: createHandler(route, context),
    ...createUnreadableHandler(route, context),
  }
  server.route({
    method: route.method,
    url: route.path,
    // A generated file has no automatic HEAD route: an export would be logged although nothing was sent. Nor has a raw one.
    exposeHeadRoute: route.contentType === undefined && !route.raw,
    bodyLimit: context.bodyLimit(route),
    config: { ownKeyFields: route.ownKeyFields ?? [] },
    ...checks,
  })
  if (route.hasContentLength) server.route({ method: 'HEAD', url: route.path, ...checks })
}
