import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import {
  type ApiClient,
  type ApiResponse,
  type ApiRoute,
  type Authenticator,
  type Connection,
  isStream,
  type Principal,
} from '../../ports/api.ts'
import { cursorOf, headerNames } from '../../ports/api-headers.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { SendRefusal } from './envelope.ts'
import { bearerOf, idempotencyKeyOf, remoteAddressOf } from './headers.ts'
import { type DocumentationContext, routeSchemaOf } from './openapi.ts'
import { createRateCheck } from './rate.ts'
import { notFoundRefusalOf } from './refusals.ts'
import { createReader } from './request-reader.ts'

/** A request whose credential and path have passed. */
interface AdmittedRequest {
  readonly principal: Principal
  readonly params: unknown
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose credential it is, whatever came of the other checks; null where none works. */
    caller: ApiClient | null
    admitted: AdmittedRequest | null
  }
}

/** What mounting a route needs of the server around it. */
export interface MountContext {
  readonly authenticate: Authenticator
  readonly send: SendRefusal
  readonly limiter: RateLimiter
  /** Bytes of the largest body that a route takes. */
  readonly bodyLimit: (route: ApiRoute) => number
  readonly documentation: DocumentationContext
}

function agencyIdOf({ query }: FastifyRequest): string | null {
  const named = query instanceof Object ? Reflect.get(query, 'agencyId') : undefined
  return typeof named === 'string' ? named : null
}

/** Before anything of the body is read: the credential, then its rate, then the path (Supplement §1.13). */
function createAdmissionHook(route: ApiRoute, { authenticate, send, limiter }: MountContext) {
  const limit = createRateCheck(limiter)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const bearer = bearerOf(request.headers.authorization)
    const asked = { bearer, agencyId: agencyIdOf(request), ip: remoteAddressOf(request) }
    const principal = await authenticate(route, asked)
    const refused = isRefusal(principal)
    request.caller = refused ? (principal.client ?? null) : principal
    const over = request.caller && (await limit(reply, request.caller, refused))
    if (refused) return send(reply, principal)
    if (over) return send(reply, over)
    const params = route.params.safeParse(request.params)
    if (!params.success) return send(reply, refuse(notFoundRefusalOf(route, String(params.error.issues[0]?.path[0]))))
    const idempotencyKey = idempotencyKeyOf(request.headers) ?? null
    const absent = await route.notFoundParam?.({ params: params.data, principal, idempotencyKey })
    if (absent) return send(reply, refuse(notFoundRefusalOf(route, absent)))
    request.admitted = { principal, params: params.data }
    return undefined
  }
}

/** Sends an answer: bytes as they are, a stream as it comes, a value as JSON, nothing as nothing. */
function sendAnswer(reply: FastifyReply, { status, body, headers, position }: ApiResponse): FastifyReply {
  reply.code(status)
  if (position !== null) reply.header(headerNames.position, cursorOf(position))
  if (body === null) return reply.headers(headers ?? {}).send()
  reply.header('content-type', 'application/json; charset=utf-8')
  if (headers) reply.headers(headers)
  if (isStream(body)) {
    if (reply.request.method !== 'HEAD') return reply.send(Readable.from(body, { objectMode: false }))
    // What answers HEAD is never read: what it holds is let go of, and how that ends is nobody's concern.
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => undefined)
    return reply.send()
  }
  return reply.send(body instanceof Uint8Array ? body : JSON.stringify(body))
}

/** The way back to a client. */
function connectionOf(reply: FastifyReply): Connection {
  let gone: AbortController | null = null
  return {
    closeSignal() {
      if (gone) return gone.signal
      const leaving = new AbortController()
      gone = leaving
      if (reply.raw.closed || reply.raw.destroyed) leaving.abort()
      else reply.raw.once('close', () => leaving.abort())
      return leaving.signal
    },
    drop: () => void reply.raw.destroy(),
  }
}

function createHandler(route: ApiRoute, { send }: MountContext) {
  const read = createReader(route)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.admitted === null) throw new Error(`${route.name} was reached without its checks`)
    const reading = read(request)
    if (isRefusal(reading)) return send(reply, reading)
    const answer = await route.run({
      ...request.admitted,
      ...reading,
      surface: route.surface,
      requestId: request.id,
      ip: remoteAddressOf(request),
      connection: connectionOf(reply),
    })
    return isRefusal(answer) ? send(reply.headers(answer.headers ?? {}), answer) : sendAnswer(reply, answer)
  }
}

/** Mounts a route: checks, reading, running, answering, and its page in the documentation. */
export function mountRoute(server: FastifyInstance, route: ApiRoute, mounting: MountContext): void {
  const checks = { onRequest: createAdmissionHook(route, mounting), handler: createHandler(route, mounting) }
  server.route({
    method: route.method,
    url: route.path,
    // What is made while it is sent is not made for nothing: an export would be on record without having been given out.
    exposeHeadRoute: route.contentType === undefined,
    bodyLimit: mounting.bodyLimit(route),
    schema: routeSchemaOf(route, mounting.documentation),
    ...checks,
  })
  if (route.hasContentLength) server.route({ method: 'HEAD', url: route.path, schema: { hide: true }, ...checks })
}
